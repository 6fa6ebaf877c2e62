import { limits } from '../limits.js';
import { type KeyRecord, keyIdOf } from './access-records.js';
import type { Draft } from './draft.js';
import type { CallId } from './events.js';

/** Keeps a new key until it expires or is revoked. */
export function createKey(draft: Draft, call: CallId, key: KeyRecord): void {
  const { access } = draft;
  access.forgetExpired(draft.wall);
  if (access.allKeys().length >= limits.apiKeys) {
    const message = `${limits.apiKeys} keys are good already: revoke those that nobody uses, \`stageplane key list\` shows them`;
    return draft.refuseAccess(call, 'RESOURCE_EXHAUSTED', 'TOO_MANY_KEYS', message);
  }
  access.putKey(key);
  draft.answer(call, { kind: 'key-kept' });
}

/** Forgets a key: what is not known is let in nowhere. */
export function revokeKey(draft: Draft, call: CallId, keyId: string): void {
  const { access } = draft;
  const key = access.allKeys().find((one) => keyIdOf(one) === keyId);
  if (!key) {
    const message = `there is no key ${JSON.stringify(keyId)}: name the whole id that \`stageplane key list\` shows`;
    return draft.refuseAccess(call, 'NOT_FOUND', 'KEY_NOT_FOUND', message);
  }
  access.keys.set(key.digest, undefined);
  draft.say('warn', 'a key was revoked', { role: key.role, name: key.name, serial: keyId });
  draft.answer(call, { kind: 'key-revoked', name: key.name });
}
