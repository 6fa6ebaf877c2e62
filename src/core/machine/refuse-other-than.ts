import type { Hello } from '../../../gen/stageplane/v1/node_agent_service.js';
import type { NodeId } from '../ids.js';
import type { Draft } from './draft.js';
import type { SessionRefusal } from './effects.js';

/** A certificate says which node an agent is; a Hello that claims to be another one is not believed. */
export function refuseOtherThan(draft: Draft, enrolled: NodeId, hello: Hello): SessionRefusal | undefined {
  const node = draft.node(enrolled);
  const anew = 'let it join anew: `stageplane token create`, then `stageplane agent --join`';
  if (!node) return refuse('NOT_ENROLLED', `the certificate is of node ${enrolled}, which is not known here: ${anew}`);
  if (node.instanceId !== hello.instanceId) {
    const message = `the certificate is of node "${node.name}", and the agent has another data folder than that: ${anew}`;
    return refuse('OTHER_INSTANCE', message);
  }
  if (node.name === hello.name) return undefined;
  const message = `the certificate is of node "${node.name}", and the agent calls itself "${hello.name}": start it with --name ${node.name}`;
  return refuse('OTHER_NAME', message);
}

function refuse(reason: string, message: string): SessionRefusal {
  return { code: 'PERMISSION_DENIED', reason, message };
}
