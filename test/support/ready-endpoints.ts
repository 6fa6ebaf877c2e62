import type { ClusterEvent } from '../../src/core/machine/events.js';
import type { TokenEndpoints } from '../../src/orchestrator/text/token-endpoints.js';

/** Token endpoints without a process, ready at once: for scripted agents, whose stages have no edges. */
export function readyEndpoints(post: (event: ClusterEvent) => void): TokenEndpoints {
  return {
    open: ({ runId, generation }) => post({ kind: 'token-endpoint-ready', runId, generation }),
    close: () => {},
    beginAnswer: () => {},
    find: () => undefined,
    stop: async () => {},
  };
}
