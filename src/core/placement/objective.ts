import { PlacementObjective } from '../../../gen/stageplane/v1/planner.js';
import type { Placement } from './placement.js';

/**
 * What the best placement is: least seconds per token of one conversation, least time of the slowest stage, fewest stages,
 * or least peak utilisation of memory.
 */
export type Objective = 'fastest' | 'throughput' | 'fewest-nodes' | 'balanced';

/** Unspecified is fastest. */
export function objectiveOf(wire: PlacementObjective): Objective {
  switch (wire) {
    case PlacementObjective.PLACEMENT_OBJECTIVE_THROUGHPUT:
      return 'throughput';
    case PlacementObjective.PLACEMENT_OBJECTIVE_FEWEST_NODES:
      return 'fewest-nodes';
    case PlacementObjective.PLACEMENT_OBJECTIVE_BALANCED:
      return 'balanced';
    default:
      return 'fastest';
  }
}

type Ranked = Pick<Placement, 'secondsPerToken' | 'slowestStageSeconds' | 'peakUtilisation' | 'stages'>;

/** Numbers to compare in turn, less is better: the objective's own first, the others for ties. */
const keys: Record<Objective, (placement: Ranked) => readonly number[]> = {
  fastest: (it) => [it.secondsPerToken, it.stages.length, it.peakUtilisation, it.slowestStageSeconds],
  throughput: (it) => [it.slowestStageSeconds, it.secondsPerToken, it.stages.length, it.peakUtilisation],
  'fewest-nodes': (it) => [it.stages.length, it.secondsPerToken, it.peakUtilisation, it.slowestStageSeconds],
  balanced: (it) => [it.peakUtilisation, it.secondsPerToken, it.stages.length, it.slowestStageSeconds],
};

const DIGITS = 9;

/** A measure without its last bits: the same sum in another order differs in them, and is a tie all the same. */
export function comparable(value: number): number {
  return Number(value.toPrecision(DIGITS));
}

/** Negative when `a` is the better one; 0 only when they are alike in everything that is measured. */
export function compareBy(objective: Objective): (a: Ranked, b: Ranked) => number {
  return (a, b) => {
    const [left, right] = [keys[objective](a).map(comparable), keys[objective](b).map(comparable)];
    const at = left.findIndex((value, key) => value !== right[key]);
    return at === -1 ? 0 : left[at]! - right[at]!;
  };
}

/** What an objective looks at, in words with its number. */
export function achieved(objective: Objective, it: Ranked): string {
  switch (objective) {
    case 'fastest':
      return `${secondsText(it.secondsPerToken)} per token`;
    case 'throughput':
      return `${secondsText(it.slowestStageSeconds)} in the slowest stage`;
    case 'fewest-nodes':
      return it.stages.length === 1 ? '1 stage' : `${it.stages.length} stages`;
    case 'balanced':
      return `${percentText(it.peakUtilisation)} of the fullest device`;
  }
}

/** Four significant digits, in the unit that suits. */
export function secondsText(seconds: number): string {
  if (seconds >= 1) return `${Number(seconds.toPrecision(4))} s`;
  if (seconds >= 1e-3) return `${Number((seconds * 1e3).toPrecision(4))} ms`;
  return `${Number((seconds * 1e6).toPrecision(4))} us`;
}

export function percentText(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
