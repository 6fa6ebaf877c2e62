import { wallMillis } from '../ids.js';
import { limits } from '../limits.js';
import type { Draft } from './draft.js';

/**
 * A drain ends by the wall clock, so that no restart puts it off. When that clock is set meanwhile, each drain keeps the
 * time that it had left. A machine that sleeps finds its clock set when it wakes: that time is not counted either.
 */
export function followWallClock(draft: Draft): void {
  const ahead = draft.wall - draft.now;
  const jump = ahead - (draft.wallAhead ?? ahead);
  if (draft.wallAhead !== undefined && Math.abs(jump) < limits.wallJumpMillis) return;
  draft.wallAhead = ahead;
  if (jump === 0) return;
  for (const id of draft.allNodeIds()) {
    const node = draft.node(id);
    if (node?.drainUntil === undefined) continue;
    draft.putNode({ ...node, drainUntil: wallMillis(node.drainUntil + jump) });
    draft.say('warn', 'the wall clock was set: a drain keeps the time that it had left', {
      nodeId: id,
      nodeName: node.name,
    });
  }
}
