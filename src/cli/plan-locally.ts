import type { Node } from '../../gen/stageplane/v1/node.js';
import type { PlanRunResponse } from '../../gen/stageplane/v1/orchestrator_service.js';
import type { PlanRequest } from '../../gen/stageplane/v1/planner.js';
import { StageSettings } from '../../gen/stageplane/v1/provision.js';
import { runId } from '../core/ids.js';
import { planAnswer } from '../core/planner/plan-answer.js';
import { planRequest } from '../core/planner/plan-request.js';
import type { LibraryModel } from '../orchestrator/model-library.js';
import { sha256 } from '../orchestrator/sha256.js';
import { poolOfNodes } from './pool-of-nodes.js';

const ENGINE = 'llama.cpp';

/** Plans as the orchestrator would, for nodes that need not exist. `nodes` are the whole pool. */
export function planLocally(asked: PlanRequest, model: LibraryModel, nodes: readonly Node[]): PlanRunResponse {
  const request = withDefaults(asked, nodes);
  const { inspection, obstacle, llama } = model;
  const isLlama = request.settings?.engine === ENGINE;
  const ofEngine = isLlama && llama.kind === 'obstacle' ? llama.message : undefined;
  return planAnswer(
    planRequest({
      request,
      inspection,
      modelObstacle: obstacle ?? ofEngine,
      modelCuts: isLlama && llama.kind === 'cuts' ? llama.cuts : undefined,
      pool: poolOfNodes(nodes),
      runId: runId(0n),
      sha256,
    }),
  );
}

function withDefaults(asked: PlanRequest, nodes: readonly Node[]): PlanRequest {
  const engine = asked.settings?.engine || ENGINE;
  const device = asked.settings?.device || deviceFor(engine, nodes);
  return { ...asked, settings: StageSettings.fromPartial({ ...asked.settings, engine, device }) };
}

/** Where the engine computes on most nodes, RAM before all else. */
function deviceFor(engine: string, nodes: readonly Node[]): string {
  const offered = nodes.flatMap(({ engines }) => engines.find(({ name }) => name === engine)?.deviceIds ?? []);
  const counts = new Map([['cpu', 0]]);
  for (const device of offered) counts.set(device, (counts.get(device) ?? 0) + 1);
  return [...counts].reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}
