import type { NodeExclusion } from '../../../gen/stageplane/v1/planner.js';
import { escapeControls } from './escape.js';
import { exclusionLine } from './exclusion-line.js';

/** Nodes up to which each has a line of its own. */
const SINGLY = 6;
const NAMES_SHOWN = 4;

/** Why nodes were left out: node by node, or reason by reason when there are many. */
export function exclusionLines(exclusions: readonly NodeExclusion[]): string[] {
  if (exclusions.length <= SINGLY) return exclusions.map(exclusionLine);
  const reasons = [...new Set(exclusions.map(({ reason }) => reason))];
  const groups = reasons.map((reason) => groupLine(exclusions.filter((exclusion) => exclusion.reason === reason)));
  return [...groups, 'plan --explain-node NAME says more of each'];
}

function groupLine(group: readonly NodeExclusion[]): string {
  const [first] = group;
  if (!first) return '';
  if (group.length === 1) return exclusionLine(first);
  const names = group.slice(0, NAMES_SHOWN).map(({ nodeId, nodeName }) => `${nodeName || 'node'} (${nodeId})`);
  const more = group.length > NAMES_SHOWN ? ` and ${group.length - NAMES_SHOWN} more` : '';
  return escapeControls(`not used: ${group.length} nodes, ${first.reason}: ${names.join(', ')}${more}`);
}
