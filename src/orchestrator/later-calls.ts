import type { OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import type { ServiceBodies } from '../grpc/add-service.js';
import { unimplemented } from './unimplemented.js';

type Bodies = ServiceBodies<typeof OrchestratorServiceService>;

/** What the ABI promises for later versions; until then a sentence says what to do instead. */
export const laterCalls: Pick<Bodies, 'drainNode' | 'deleteNode'> = {
  async drainNode() {
    throw unimplemented('DRAIN_NODE', 'draining a node', 'cordon it and stop its runs');
  },
  async deleteNode() {
    throw unimplemented('DELETE_NODE', 'forgetting a node', 'cordon it; it takes no new stage');
  },
};
