import { limits } from '../limits.js';
import type { TokenRecord } from './access-records.js';
import type { Draft } from './draft.js';
import type { CallId } from './events.js';

/** Keeps a new token until it expires. */
export function createToken(draft: Draft, call: CallId, token: TokenRecord): void {
  const { access } = draft;
  access.forgetExpired(draft.wall);
  if (access.allTokens().length >= limits.joinTokens) {
    const message = `${limits.joinTokens} tokens have not expired yet: wait for some of them, and give new ones a shorter --ttl`;
    return draft.refuseAccess(call, 'RESOURCE_EXHAUSTED', 'TOO_MANY_TOKENS', message);
  }
  access.putToken(token);
  draft.answer(call, { kind: 'token-kept' });
}
