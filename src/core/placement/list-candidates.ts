import { limits } from '../limits.js';
import type { Candidate } from './candidate.js';
import { isFastEnough } from './has-plan.js';
import { numberOfStages, peakUtilisation } from './measure.js';
import { type Objective, secondsText } from './objective.js';
import { type Placement, placementOf } from './placement.js';
import type { SearchGrid } from './search-grid.js';
import { searchSplits } from './search-splits.js';
import { shortfallsOf, shortfallText } from './shortfall.js';
import type { SplitStage } from './split.js';
import { balanceByVram } from './strategies/balance-by-vram.js';
import { evenSplit } from './strategies/even-split.js';
import { minLatency } from './strategies/min-latency.js';
import { minMaxStageTime } from './strategies/min-max-stage-time.js';
import { ordersInUse } from './strategies/orders-in-use.js';
import { singleNode } from './strategies/single-node.js';
import type { Orders, Strategy } from './strategies/strategy.js';

export const strategies: readonly Strategy[] = [singleNode, balanceByVram, minMaxStageTime, minLatency, evenSplit];

/** What every strategy makes of the problem, and what the objective itself asks for; feasible ones are not yet compared. */
export function listCandidates(grid: SearchGrid, objective: Objective): Candidate[] {
  const orders = ordersInUse(grid, objective);
  const own = strategies.map((strategy) => candidateOf(grid, strategy, strategy.search(grid, objective, orders)));
  const all = [...own, ...aimedCandidates(grid, objective, orders)];
  return all.map((candidate) => neverWorse(grid, candidate, all));
}

/** Of many nodes each search looks at orders of its own, and another may come upon what this one would have liked best. */
function neverWorse(grid: SearchGrid, candidate: Candidate, all: readonly Candidate[]): Candidate {
  const { name, placement: own } = candidate;
  const strategy = strategies.find((it) => it.name === name);
  if (!strategy?.least) return candidate;
  let best = own;
  for (const { placement } of all) {
    if (placement && (!best || strategy.least(placement) < strategy.least(best))) best = placement;
  }
  return best && best !== own ? feasibleOr(grid, name, name, best) : candidate;
}

function candidateOf(grid: SearchGrid, strategy: Strategy, stages: readonly SplitStage[] | undefined): Candidate {
  const { name } = strategy;
  if (stages) return feasibleOr(grid, name, name, placementOf(grid, stages));
  if (strategy === singleNode && grid.minStages > 1) {
    const reasons = [`one stage is fewer than the ${grid.minStages} that there must be`];
    return { name, strategy: name, fate: 'rejected-policy', placement: undefined, reasons };
  }
  const attempt = strategy.attempt(grid);
  const reasons = attempt ? obstaclesOf(grid, placementOf(grid, attempt)) : [];
  return {
    name,
    strategy: name,
    fate: 'infeasible',
    placement: undefined,
    reasons: reasons.length > 0 ? reasons : ['no split keeps the stage bounds, layer caps, pins and cuts'],
  };
}

function feasibleOr(grid: SearchGrid, name: string, strategy: string, placement: Placement): Candidate {
  const { problem } = grid;
  if (isFastEnough(problem, placement)) return { name, strategy, fate: 'feasible', placement, reasons: [] };
  const reason =
    `${secondsText(placement.secondsPerToken)} per token is more than the ` +
    `${secondsText(problem.maxSecondsPerToken!)} that the constraints allow`;
  return { name, strategy, fate: 'rejected-policy', placement, reasons: [reason] };
}

/** Two objectives ask for something that no strategy makes least: fewest stages over every order, and least peak. */
function aimedCandidates(grid: SearchGrid, objective: Objective, orders: Orders): Candidate[] {
  if (objective === 'balanced') {
    const split = searchSplits(grid, peakUtilisation(grid), orders);
    const name = `${balanceByVram.name}, least peak utilisation`;
    return split ? [feasibleOr(grid, name, balanceByVram.name, placementOf(grid, split.stages))] : [];
  }
  if (objective !== 'fewest-nodes') return [];
  const fewest = searchSplits(grid, numberOfStages(grid), orders)?.stages;
  if (!fewest) return [];
  const count = fewest.length;
  const within = { ...grid, minStages: count, maxStages: count };
  const stages = minLatency.search(within, objective, () => [...orders(), fewest.map(({ node }) => node)])!;
  const name = `${minLatency.name}, ${count === 1 ? '1 stage' : `${count} stages`}`;
  return [feasibleOr(grid, name, minLatency.name, placementOf(grid, stages))];
}

/** Why a placement that a strategy would have liked is none. */
function obstaclesOf(grid: SearchGrid, placement: Placement): string[] {
  const refused = new Set(grid.problem.refusedLengths);
  const others = placement.stages.flatMap(({ node, layerStart, layerEndExclusive }, stageIndex) => {
    const layers = layerEndExclusive - layerStart;
    const stage = `stage ${stageIndex} would have ${layers} layers`;
    return [
      ...(layers > (node.maxLayers ?? layers) ? [`${stage}, node "${node.name}" may take ${node.maxLayers}`] : []),
      ...(placement.stages.length > 1 && refused.has(layers) ? [`${stage}, which the engine refuses`] : []),
    ];
  });
  return [...shortfallsOf(placement).map(shortfallText), ...others].slice(0, limits.violationsPerRejection);
}
