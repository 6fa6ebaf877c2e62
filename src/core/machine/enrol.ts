import { NodeDescriptor } from '../../../gen/stageplane/v1/node.js';
import type { NodeId } from '../ids.js';
import { limits } from '../limits.js';
import { isNodeName, nodeNameAdvice } from '../node-name.js';
import type { Holder, TokenRecord } from './access-records.js';
import type { Draft } from './draft.js';
import type { AccessRefusal } from './effects.js';
import type { ClusterEvent } from './events.js';
import { refuseCertificate } from './refuse-certificate.js';
import { takeNodeId } from './take-node-id.js';

type Enrolment = Extract<ClusterEvent, { kind: 'enrol-requested' }>;
type Refusal = Omit<AccessRefusal, 'kind'>;

/** Redeems a token, once: whoever is admitted, what is then known of it and the token's use are one turn (I4, I9). */
export function enrol(draft: Draft, enrolment: Enrolment): void {
  const { call, secretDigest, keyDigest, serial, notAfter } = enrolment;
  const { access } = draft;
  const token = access.token(secretDigest);
  const refusal = refuseToken(draft, token, keyDigest) ?? refuseCertificate(draft, token?.redeemed);
  if (!token || refusal) return refuse(draft, enrolment, refusal);
  const admitted = token.redeemed ?? admit(draft, token, enrolment);
  if ('reason' in admitted) return refuse(draft, enrolment, admitted);
  const { role, name, nodeId } = admitted;
  access.putToken({ ...token, redeemed: { role, name, nodeId, keyDigest } });
  access.putCertificate({ serial, role, name, nodeId, notAfter, revoked: false });
  draft.say('info', 'a token was redeemed', { role, name, serial, ...(nodeId !== undefined && { nodeId }) });
  draft.answer(call, { kind: 'enrolled', holder: { role, name, nodeId } });
}

function refuse(draft: Draft, { call }: Enrolment, refusal: Refusal = unknownToken): void {
  draft.refuseAccess(call, refusal.code, refusal.reason, refusal.message);
}

const another = 'create another one with `stageplane token create`';

const unknownToken: Refusal = {
  code: 'PERMISSION_DENIED',
  reason: 'TOKEN_UNKNOWN',
  message: `this token is not known here, or has expired long ago: ${another}`,
};

function refuseToken(draft: Draft, token: TokenRecord | undefined, keyDigest: string): Refusal | undefined {
  if (!token) return unknownToken;
  if (token.expiresAt <= draft.wall) {
    return { code: 'PERMISSION_DENIED', reason: 'TOKEN_EXPIRED', message: `this token has expired: ${another}` };
  }
  if (!token.redeemed || token.redeemed.keyDigest === keyDigest) return undefined;
  const message = `this token has admitted "${token.redeemed.name}" already, and admits one alone: ${another}`;
  return { code: 'PERMISSION_DENIED', reason: 'TOKEN_USED', message };
}

function admit(
  draft: Draft,
  token: TokenRecord,
  { name: asked, defaultName, instanceId }: Enrolment,
): Holder | Refusal {
  const name = asked || token.nodeName || defaultName;
  if (!isNodeName(name)) {
    return { code: 'INVALID_ARGUMENT', reason: 'INVALID_NAME', message: `"${name}" is no name; ${nodeNameAdvice}` };
  }
  if (token.nodeName !== '' && token.nodeName !== name) {
    const message = `this token is for "${token.nodeName}", not for "${name}": join with --name ${token.nodeName}`;
    return { code: 'PERMISSION_DENIED', reason: 'OTHER_NAME', message };
  }
  if (token.role !== 'agent') return instanceId === '' ? { role: token.role, name } : noAgent(token.role);
  if (instanceId === '') {
    const message =
      'this token makes an agent: start one with `stageplane agent --join`, or create one with `stageplane token create --role launcher` (or viewer)';
    return { code: 'INVALID_ARGUMENT', reason: 'INSTANCE_MISSING', message };
  }
  const node = nodeOf(draft, token, name, instanceId);
  return typeof node === 'bigint' ? { role: 'agent', name, nodeId: node } : node;
}

/** Said before the token is used up. */
function noAgent(role: string): Refusal {
  const message = `this token makes a ${role}, and no agent: redeem it with \`stageplane join\`, or create one with \`stageplane token create --role agent\``;
  return { code: 'INVALID_ARGUMENT', reason: 'OTHER_ROLE', message };
}

/** A node that is known comes back only by a token that names it: an instance id proves nothing. */
function nodeOf(draft: Draft, token: TokenRecord, name: string, instanceId: string): NodeId | Refusal {
  const known = draft.nodeByInstance(instanceId);
  const holder = draft.nodeByName(name);
  if (known && known === holder && token.nodeName === name) return known.nodeId;
  if (known) {
    const message = `this agent is node "${known.name}" already: join with --name ${known.name} and a token made with --node ${known.name}`;
    return { code: 'ALREADY_EXISTS', reason: 'NODE_KNOWN', message };
  }
  if (holder) {
    const message = `the name "${name}" belongs to node ${holder.nodeId}: join with another --name, or delete that node`;
    return { code: 'ALREADY_EXISTS', reason: 'NAME_TAKEN', message };
  }
  if (draft.nodeCount() >= limits.nodes) {
    const message = `the pool already has ${limits.nodes} nodes: delete one that is gone before "${name}" joins`;
    return { code: 'RESOURCE_EXHAUSTED', reason: 'TOO_MANY_NODES', message };
  }
  return createNode(draft, name, instanceId);
}

/** Its machine is described by the first Hello. */
function createNode(draft: Draft, name: string, instanceId: string): NodeId {
  const nodeId = takeNodeId(draft);
  const { revision } = draft.cluster;
  const descriptor = NodeDescriptor.create();
  draft.putNode({
    nodeId,
    name,
    instanceId,
    cordoned: false,
    descriptor,
    engines: [],
    createdAt: draft.wall,
    revision,
  });
  return nodeId;
}
