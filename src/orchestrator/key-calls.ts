import type { AdminServiceService, ApiKey } from '../../gen/stageplane/v1/admin_service.js';
import { wallMillis } from '../core/ids.js';
import { limits } from '../core/limits.js';
import { type KeyRecord, keyIdOf } from '../core/machine/access-records.js';
import { isNodeName, nodeNameAdvice } from '../core/node-name.js';
import { isKeyRole, keyRoles } from '../core/role.js';
import type { ServiceBodies } from '../grpc/add-service.js';
import { invalidField } from '../grpc/throw-if-any.js';
import { answerError } from './answer-errors.js';
import type { ApiKeys } from './api-keys.js';
import { keyDigest, newKeyText } from './key-text.js';
import type { Loop } from './loop.js';

type Bodies = Pick<ServiceBodies<typeof AdminServiceService>, 'createApiKey' | 'listApiKeys' | 'revokeApiKey'>;

/** Who may come in over HTTP; with certificates and without. */
export function keyCalls(loop: Loop, keys: ApiKeys): Bodies {
  const { world } = loop;
  return {
    async createApiKey({ name, role: asked, ttlMillis }, context) {
      const role = asked || 'launcher';
      if (!isKeyRole(role)) throw invalidField('role', `"${role}" is none of ${keyRoles.join(', ')}`);
      if (!isNodeName(name)) throw invalidField('name', `"${name}" is no name; ${nodeNameAdvice}`);
      if (ttlMillis > limits.longestKeyMillis)
        throw invalidField('ttl_millis', 'a key that expires is good for at most 10 years');
      const text = newKeyText();
      const now = Date.now();
      const expiresAt = ttlMillis === 0n ? undefined : wallMillis(now + Number(ttlMillis));
      const key: KeyRecord = { digest: keyDigest(text), name, role, createdAt: wallMillis(now), expiresAt };
      const answer = await loop.request((call) => ({ kind: 'key-requested', call, key }), context);
      if (answer.kind !== 'key-kept') throw answerError(answer);
      return { key: text, created: keyView(key) };
    },

    async listApiKeys() {
      const good = [...world.keys.values()].filter(
        ({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt > Date.now(),
      );
      return { keys: good.sort((a, b) => a.createdAt - b.createdAt).map(keyView) };
    },

    async revokeApiKey({ keyId }, context) {
      const answer = await loop.request((call) => ({ kind: 'key-revocation-requested', call, keyId }), context);
      if (answer.kind !== 'key-revoked') throw answerError(answer);
      keys.endVisitsOf(keyId);
      return { name: answer.name };
    },
  };
}

function keyView(key: KeyRecord): ApiKey {
  const { name, role, createdAt, expiresAt } = key;
  const end = expiresAt === undefined ? undefined : new Date(expiresAt);
  return { keyId: keyIdOf(key), name, role, createdAt: new Date(createdAt), expiresAt: end };
}
