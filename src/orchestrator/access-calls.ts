import { randomBytes } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import type { AdminServiceService } from '../../gen/stageplane/v1/admin_service.js';
import { wallMillis } from '../core/ids.js';
import { limits } from '../core/limits.js';
import { isNodeName, nodeNameAdvice } from '../core/node-name.js';
import { isJoinRole, joinRoles } from '../core/role.js';
import type { ServiceBodies } from '../grpc/add-service.js';
import { RpcError } from '../grpc/rpc-error.js';
import { invalidField } from '../grpc/throw-if-any.js';
import { formatToken, secretDigest } from '../pki/join-token.js';
import { answerError } from './answer-errors.js';
import type { Loop } from './loop.js';
import type { Security } from './security.js';

type Bodies = Pick<
  ServiceBodies<typeof AdminServiceService>,
  'createJoinToken' | 'listJoinTokens' | 'listCertificates' | 'revokeCertificate'
>;

/** Who may come in, and who may no longer. */
export function accessCalls(loop: Loop, security: Security | undefined): Bodies {
  const { world } = loop;
  return {
    async createJoinToken({ nodeName, ttlMillis, role: asked }, context) {
      const { caDigest } = needed(security);
      const role = asked || 'agent';
      if (!isJoinRole(role)) throw invalidField('role', `"${role}" is none of ${joinRoles.join(', ')}`);
      if (nodeName !== '' && !isNodeName(nodeName))
        throw invalidField('node_name', `"${nodeName}" is no name; ${nodeNameAdvice}`);
      const ttl = Number(ttlMillis) || limits.joinTokenMillis;
      if (ttl > limits.longestJoinTokenMillis) throw invalidField('ttl_millis', 'a token is good for at most 30 days');
      const secret = randomBytes(limits.tokenSecretBytes).toString('base64url');
      const expiresAt = wallMillis(Date.now() + ttl);
      const token = { digest: secretDigest(secret), role, nodeName, expiresAt };
      const answer = await loop.request((call) => ({ kind: 'token-requested', call, token }), context);
      if (answer.kind !== 'token-kept') throw answerError(answer);
      return { token: formatToken({ caDigest, secret }), expiresAt: new Date(expiresAt) };
    },

    async listJoinTokens() {
      needed(security);
      const alive = [...world.tokens.values()].filter(({ expiresAt }) => expiresAt > Date.now());
      const tokens = alive.map(({ digest, role, nodeName, expiresAt, redeemed }) => ({
        tokenId: digest.slice(0, 12),
        role,
        nodeName,
        expiresAt: new Date(expiresAt),
        usedBy: redeemed?.name ?? '',
      }));
      return { tokens: tokens.sort((a, b) => Number(a.expiresAt) - Number(b.expiresAt)) };
    },

    async listCertificates() {
      needed(security);
      const alive = [...world.certificates.values()].filter(({ notAfter }) => notAfter > Date.now());
      const certificates = alive.map((certificate) => ({
        ...certificate,
        nodeId: certificate.nodeId ?? 0n,
        notAfter: new Date(certificate.notAfter),
      }));
      return { certificates: certificates.sort((a, b) => Number(a.notAfter) - Number(b.notAfter)) };
    },

    async revokeCertificate({ serial: asked }, context) {
      const { gatekeeper } = needed(security);
      const serial = asked.toLowerCase();
      const answer = await loop.request((call) => ({ kind: 'revocation-requested', call, serial }), context);
      if (answer.kind !== 'revoked') throw answerError(answer);
      gatekeeper.endCallsOf(answer.serials);
      return { serials: [...answer.serials] };
    },
  };
}

function needed(security: Security | undefined): Security {
  if (security) return security;
  const message = 'this orchestrator asks nobody for a certificate: stop it, run `stageplane init`, and start it again';
  throw new RpcError(status.FAILED_PRECONDITION, 'NOT_INITIALISED', message);
}
