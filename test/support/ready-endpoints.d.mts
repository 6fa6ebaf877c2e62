import type { ClusterEvent } from '../../src/core/machine/events.js';
import type { TokenEndpoints } from '../../src/orchestrator/text/token-endpoints.js';

/** Plain JavaScript, for processes of tests and benchmarks that run built code. */
export function readyEndpoints(post: (event: ClusterEvent) => void): TokenEndpoints;
