import type { SelectedPlan } from '../../gen/stageplane/v1/planner.js';
import { limits } from '../core/limits.js';

/** What dry runs have chosen, by plan id: a run that expects one of them is not placed anew. The oldest are forgotten. */
export class RecentPlans {
  readonly #plans = new Map<string, SelectedPlan>();

  remember(selected: SelectedPlan | undefined): void {
    if (!selected) return;
    this.#plans.delete(selected.planId);
    this.#plans.set(selected.planId, selected);
    if (this.#plans.size > limits.recentPlans) this.#plans.delete(this.#plans.keys().next().value!);
  }

  find(planId: string | undefined): SelectedPlan | undefined {
    return planId === undefined ? undefined : this.#plans.get(planId);
  }
}
