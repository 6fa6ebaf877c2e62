import type { PlanRequest } from '../../gen/stageplane/v1/planner.js';
import { StageSettings } from '../../gen/stageplane/v1/provision.js';
import type { PoolNode } from '../core/planner/pool-node.js';
import type { LibraryModel } from './model-library.js';

export interface EngineChoice {
  readonly plan: PlanRequest;
  /** What a launcher should know of the choice, as sentences. */
  readonly warnings: readonly string[];
}

/** Gives a request that names no engine the one that makes sense of the model, where every node that takes stages has it. */
export function withEngine(plan: PlanRequest, { llama }: LibraryModel, pool: readonly PoolNode[]): EngineChoice {
  if (plan.settings?.engine) return { plan, warnings: [] };
  const takers = pool.filter(({ obstacle }) => obstacle === undefined);
  const without = takers.find(({ engines }) => !engines.some(({ name }) => name === 'llama.cpp'));
  const obstacle = llama.kind === 'obstacle' ? llama.message : without && `node "${without.name}" does not offer it`;
  if (obstacle === undefined && takers.length > 0) return { plan: naming(plan, 'llama.cpp'), warnings: [] };
  const why = obstacle ?? 'no node takes stages';
  const warning = `engine "fixture" was chosen, whose text means nothing, because "llama.cpp" cannot run this: ${why}`;
  return { plan: naming(plan, 'fixture'), warnings: [warning] };
}

function naming(plan: PlanRequest, engine: string): PlanRequest {
  return { ...plan, settings: StageSettings.fromPartial({ ...plan.settings, engine }) };
}
