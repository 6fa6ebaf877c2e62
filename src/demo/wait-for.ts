import { NodeConditionType } from '../../gen/stageplane/v1/node.js';
import {
  type OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import type { Run, RunEvent, RunPhase } from '../../gen/stageplane/v1/run.js';
import { label } from '../cli/format/labels.js';
import { type CallSettings, streamCall } from '../grpc/client.js';

/** Milliseconds that agents get to start and join. */
const JOIN_PATIENCE = 60_000;

/** Milliseconds that a run gets for a phase; a large model on a slow disk needs its time. */
const RUN_PATIENCE = 10 * 60_000;

/** Resolves when so many nodes take stages. */
export async function nodesReady(
  client: OrchestratorServiceClient,
  count: number,
  signal?: AbortSignal,
): Promise<void> {
  const ready = new Set<bigint>();
  for await (const { update } of streamCall(client, Service.watchNodes, {}, settings(JOIN_PATIENCE, signal))) {
    if (update?.$case === 'node' && isSchedulable(update.value)) ready.add(update.value.nodeId);
    if (ready.size >= count) return;
  }
}

/** Tells what happens to a run after a revision until it is in a phase; rejects with the cause when it ends before. */
export async function runReaches(
  client: OrchestratorServiceClient,
  { runId, revision }: Pick<Run, 'runId' | 'revision'>,
  phase: RunPhase,
  say: (line: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  const request = { runId, afterRevision: revision };
  for await (const { update } of streamCall(client, Service.watchRun, request, settings(RUN_PATIENCE, signal))) {
    if (update?.$case !== 'event') continue;
    const { detail } = update.value;
    // Of interest to who plans, not to who watches a run begin.
    if (detail?.$case === 'reservationExceeded') continue;
    say(eventLine(update.value));
    if (detail?.$case !== 'runPhase') continue;
    if (detail.value.phase === phase) return;
    if (detail.value.cause) throw new Error(`run ${runId} ended: ${detail.value.cause.message}`);
  }
}

function settings(deadlineMillis: number, signal: AbortSignal | undefined): CallSettings {
  return { deadlineMillis, ...(signal && { signal }) };
}

function eventLine({ revision, detail }: RunEvent): string {
  const number = `r${revision}`.padEnd(5);
  switch (detail?.$case) {
    case 'runPhase':
      return `${number} run ${label.runPhase(detail.value.phase)}`;
    case 'stagePhase': {
      const { stageIndex, phase } = detail.value;
      return `${number} stage ${stageIndex} ${label.stagePhase(phase)}`;
    }
    case 'fault':
      return `${number} stage ${detail.value.stageIndex} faulted`;
    default:
      return `${number} ${detail?.$case}`;
  }
}

function isSchedulable({ conditions }: { conditions: readonly { type: NodeConditionType; met: boolean }[] }): boolean {
  return conditions.some(({ type, met }) => met && type === NodeConditionType.NODE_CONDITION_TYPE_SCHEDULABLE);
}
