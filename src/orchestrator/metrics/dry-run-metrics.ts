import type { Registry } from 'prom-client';
import { PlanRejectionKind } from '../../../gen/stageplane/v1/rejection.js';
import { addCounter } from './families.js';
import { labelNames } from './label-names.js';
import { Tally } from './tally.js';

/** Plans that were only looked at: no turn of the loop tells of them. */
export class DryRunMetrics {
  private readonly rejected = new Tally('kind', labelNames(PlanRejectionKind, 'PLAN_REJECTION_KIND_'));

  constructor(registry: Registry) {
    addCounter(registry, {
      name: 'stageplane_dry_run_rejections_total',
      help: 'Dry runs (PlanRun) that found no plan, by kind of rejection.',
      labelNames: ['kind'],
      read: () => this.rejected.samples(),
    });
  }

  readonly onRejected = (kind: PlanRejectionKind): void => this.rejected.add(kind);
}
