import { readText } from './readers.js';
import { list, optional, toggle, type Values } from './setting.js';

/** Of the daemons at which edges end. What is wrong with a value is told by the gateway, when it opens. */
export const edgeSettings = {
  edgeListen: optional(readText, {
    placeholder: '<address>',
    description:
      'host:port or unix:/path where edges from other nodes arrive; default: a socket for this machine alone',
    environment: true,
  }),
  edgeAddress: list(readText, {
    placeholder: '<id=address>',
    description:
      'where the edges of a node arrive, such as 2=laptop.local:7400; 1 is the orchestrator; may be repeated',
    environment: true,
  }),
  edgeTemplate: optional(readText, {
    placeholder: '<address>',
    description: 'the same for every node without an address of its own, such as node-{node_id}.local:7400',
    environment: true,
  }),
  insecureEdges: toggle('let edges leave this machine in plain text, on a network you trust', { environment: true }),
};

/** The settings as an edge gateway takes them. */
export function edgeFlags(values: Values<typeof edgeSettings>) {
  const { edgeListen, edgeAddress, edgeTemplate, insecureEdges } = values;
  return { listen: edgeListen, addresses: edgeAddress, template: edgeTemplate, insecureEdges };
}
