import type { Node } from '../../../gen/stageplane/v1/node.js';
import type { PlanRunResponse } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { CandidateStatus, type PlanCandidate, type PlanReport } from '../../../gen/stageplane/v1/planner.js';
import { deviceLoads } from '../../cli/format/device-load.js';
import { escapeControls } from '../../cli/format/escape.js';
import { speedText } from '../../cli/format/estimate.js';
import { exclusionLines } from '../../cli/format/exclusion-lines.js';
import { fidelitySentence } from '../../cli/format/fidelity-sentence.js';
import { label } from '../../cli/format/labels.js';
import type { State } from '../parts/tone.js';
import { type DeviceUse, deviceUse } from './device-use.js';

/** The answer to a dry run; every text is safe to show. */
export interface PlanView {
  readonly outcome:
    | {
        readonly kind: 'planned';
        readonly planId: string;
        readonly because: readonly string[];
        readonly fidelity: string;
      }
    | {
        readonly kind: 'rejected';
        readonly reason: string;
        readonly message: string;
        readonly violations: readonly string[];
      };
  /** The smallest change that would make a plan, in words; empty when there is one, or none. */
  readonly nearestMiss: string;
  readonly candidates: readonly CandidateView[];
  readonly exclusions: readonly string[];
  readonly warnings: readonly string[];
}

export interface CandidateView {
  readonly name: string;
  readonly state: State;
  readonly isSelected: boolean;
  /** `~21.3`, or `-`. */
  readonly speed: string;
  readonly stages: string;
  readonly devices: readonly DeviceUse[];
  readonly reasons: readonly string[];
}

export function planView({ outcome, report }: PlanRunResponse, nodes: readonly Node[]): PlanView {
  return {
    outcome: outcomeOf(outcome, report),
    nearestMiss: escapeControls(report?.noValidPlanHint?.text ?? ''),
    candidates: (report?.candidates ?? []).map((candidate) => candidateView(candidate, report, nodes)),
    exclusions: exclusionLines(report?.exclusions ?? []),
    warnings: (report?.warnings ?? []).map(escapeControls),
  };
}

function outcomeOf(outcome: PlanRunResponse['outcome'], report: PlanReport | undefined): PlanView['outcome'] {
  if (outcome?.$case === 'rejection') {
    const { kind, message, violations } = outcome.value;
    return {
      kind: 'rejected',
      reason: label.rejection(kind).replaceAll('_', ' ').toLowerCase(),
      message: escapeControls(message),
      violations: violations.map((violation) => escapeControls(violation.message)),
    };
  }
  const { planId = '', selectedBecause = [] } = report?.selected ?? {};
  return {
    kind: 'planned',
    planId,
    because: selectedBecause.map(escapeControls),
    fidelity: fidelitySentence(report?.fidelity ?? ''),
  };
}

const states: Readonly<Partial<Record<CandidateStatus, State>>> = {
  [CandidateStatus.CANDIDATE_STATUS_SELECTED]: { tone: 'good', word: 'selected' },
  [CandidateStatus.CANDIDATE_STATUS_FEASIBLE]: { tone: 'over', word: 'feasible' },
  [CandidateStatus.CANDIDATE_STATUS_INFEASIBLE]: { tone: 'bad', word: 'does not fit' },
  [CandidateStatus.CANDIDATE_STATUS_REJECTED_POLICY]: { tone: 'away', word: 'against a constraint' },
  [CandidateStatus.CANDIDATE_STATUS_REJECTED_DOMINATED]: { tone: 'away', word: 'no better in anything' },
};

function candidateView(
  candidate: PlanCandidate,
  report: PlanReport | undefined,
  nodes: readonly Node[],
): CandidateView {
  const { name, status, stageCount, tokensPerSecond, memory, reasons } = candidate;
  const deviceOf = (stage: number) =>
    report?.selected?.settings[stage]?.device ?? report?.selected?.settings[0]?.device ?? '';
  return {
    name: escapeControls(name),
    state: states[status] ?? { tone: 'away', word: 'unknown' },
    isSelected: status === CandidateStatus.CANDIDATE_STATUS_SELECTED,
    speed: speedText(tokensPerSecond),
    stages: stageCount === 0 ? '' : stageCount === 1 ? '1 stage' : `${stageCount} stages`,
    devices: deviceLoads(memory, nodes, deviceOf).map((load) => deviceUse(load, nodes)),
    reasons: reasons.map(escapeControls),
  };
}
