import type { NodeExclusion } from '../../../gen/stageplane/v1/planner.js';
import { escapeControls } from './escape.js';

/** Why a node was left out of a plan: `not used: gamma (4), cordoned: ...`. */
export function exclusionLine({ nodeId, nodeName, reason, message }: NodeExclusion): string {
  return escapeControls(`not used: ${nodeName || 'node'} (${nodeId}), ${reason}${message ? `: ${message}` : ''}`);
}
