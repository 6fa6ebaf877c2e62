import type { DrainNodeResponse, OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import { type NodeId, nodeId } from '../core/ids.js';
import { limits } from '../core/limits.js';
import type { ServiceBodies } from '../grpc/add-service.js';
import type { StreamWriter } from '../grpc/stream-writer.js';
import { throwIfAny } from '../grpc/throw-if-any.js';
import { answerError, nodeNotFound } from './answer-errors.js';
import type { Loop } from './loop.js';
import { nodeView } from './node-view.js';
import type { WatchHub } from './watch-hub.js';

type Bodies = ServiceBodies<typeof OrchestratorServiceService>;

/** Frees a node, and tells how far that has come. The drain is the node's: whoever asked for it may go. */
export function drainCall(loop: Loop, hub: WatchHub): Pick<Bodies, 'drainNode'> {
  return {
    async drainNode(request, stream, context) {
      const id = nodeId(request.nodeId);
      const deadline = checkDeadline(request.deadlineMillis);
      const leave = hub.admit();
      try {
        const answer = await loop.request(
          (call) => ({ kind: 'node-drain-requested', call, nodeId: id, deadline }),
          context,
        );
        if (answer.kind !== 'node') throw answerError(answer);
        await tellProgress(loop, hub, stream, id);
      } finally {
        leave();
      }
    },
  };
}

async function tellProgress(
  loop: Loop,
  hub: WatchHub,
  stream: StreamWriter<DrainNodeResponse>,
  id: NodeId,
): Promise<void> {
  let told: string | undefined;
  const tell = (touched: readonly NodeId[]) => {
    if (!touched.includes(id) || !stream.isOpen) return;
    const progress = progressOf(loop, id);
    if (!progress) return stream.fail(nodeNotFound(id));
    const news = JSON.stringify(progress.node?.drain, bigintText);
    if (news !== told) stream.write(progress);
    told = news;
    // Without a drain somebody has uncordoned the node: nothing is waited for any more.
    if (progress.stagesLeft === 0 || !progress.node?.drain) stream.end();
  };
  const stop = hub.onNodes(tell);
  tell([id]);
  await stream.closed;
  stop();
}

function progressOf(loop: Loop, id: NodeId): DrainNodeResponse | undefined {
  const draft = loop.peek();
  const node = draft.node(id);
  if (!node) return undefined;
  const view = nodeView(draft, node);
  return { node: view, stagesLeft: view.liveStages };
}

function checkDeadline(deadlineMillis: bigint): number {
  const longest = limits.drainMillis;
  const description = `${deadlineMillis} is above the longest deadline: ask for ${longest} milliseconds at most`;
  throwIfAny(deadlineMillis > longest ? [{ field: 'deadline_millis', description }] : []);
  return Number(deadlineMillis);
}

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
