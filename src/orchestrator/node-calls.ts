import type { OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import { nodeId } from '../core/ids.js';
import type { ServiceBodies } from '../grpc/add-service.js';
import type { CallContext } from '../grpc/open-call.js';
import { answerError, nodeNotFound } from './answer-errors.js';
import type { Loop } from './loop.js';
import { nodeView } from './node-view.js';
import { takePage } from './page.js';

type Bodies = ServiceBodies<typeof OrchestratorServiceService>;

/** Looking at nodes, keeping new stages away from them, and forgetting them. */
export function nodeCalls(
  loop: Loop,
): Pick<Bodies, 'listNodes' | 'getNode' | 'cordonNode' | 'uncordonNode' | 'deleteNode'> {
  const view = (id: bigint) => {
    const draft = loop.peek();
    const node = draft.node(nodeId(id));
    if (!node) throw nodeNotFound(nodeId(id));
    return { node: nodeView(draft, node) };
  };
  const setCordon = async (id: bigint, cordoned: boolean, context: CallContext) => {
    const answer = await loop.request(
      (call) => ({
        kind: 'node-cordon-requested',
        call,
        nodeId: nodeId(id),
        cordoned,
      }),
      context,
    );
    if (answer.kind !== 'node') throw answerError(answer);
    return view(id);
  };

  return {
    async listNodes(request) {
      const draft = loop.peek();
      const byId = [...loop.world.nodes.values()].sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1));
      const page = takePage(
        byId,
        (node) => node.nodeId,
        (id, last) => id > last,
        request,
      );
      return {
        nodes: page.items.map((node) => nodeView(draft, node)),
        nextPageToken: page.nextPageToken,
        now: new Date(),
      };
    },
    getNode: async (request) => view(request.nodeId),
    cordonNode: async (request, context) => setCordon(request.nodeId, true, context),
    uncordonNode: async (request, context) => setCordon(request.nodeId, false, context),
    async deleteNode(request, context) {
      const id = nodeId(request.nodeId);
      const answer = await loop.request((call) => ({ kind: 'node-delete-requested', call, nodeId: id }), context);
      if (answer.kind !== 'deleted') throw answerError(answer);
      return {};
    },
  };
}
