import type { Node } from '../../gen/stageplane/v1/node.js';
import { escapeControls } from './format/escape.js';

export type FoundNode =
  | { readonly kind: 'found'; readonly node: Node }
  /** `message` says which nodes there are. */
  | { readonly kind: 'unknown'; readonly message: string };

/** Names shown to someone who named a node that there is not. */
const NAMES_SHOWN = 20;

/** The node that a person means. A name wins over an id, since a name may be all digits. */
export function findNode(nodes: readonly Node[], nameOrId: string): FoundNode {
  const node = nodes.find(({ name }) => name === nameOrId) ?? nodes.find(({ nodeId }) => String(nodeId) === nameOrId);
  return node ? { kind: 'found', node } : { kind: 'unknown', message: unknownNode(nodes, nameOrId) };
}

function unknownNode(nodes: readonly Node[], nameOrId: string): string {
  const beginning = `there is no node "${escapeControls(nameOrId)}"`;
  if (nodes.length === 0) return `${beginning}, nor any other; start an agent with \`stageplane agent\``;
  const names = nodes.slice(0, NAMES_SHOWN).map(({ nodeId, name }) => `${escapeControls(name)} (${nodeId})`);
  const more = nodes.length > NAMES_SHOWN ? ` and ${nodes.length - NAMES_SHOWN} more` : '';
  return `${beginning}; the known nodes are ${names.join(', ')}${more}`;
}
