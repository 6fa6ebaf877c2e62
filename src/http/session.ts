import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import type { Role } from '../core/role.js';
import type { LocalCaller } from '../grpc/local-calls.js';
import { HttpError } from './http-refusal.js';
import { badKey, KEY_COOKIE, shownKey } from './visitor.js';

export interface SessionDoor {
  /** Methods that a role may call, such as `StopRun`; undefined asks for somebody of this machine, who shows no key. */
  readonly methodsOf: (role: Role | undefined) => readonly string[];
  /** Whether the cookie may only travel over TLS. */
  readonly isSecure: boolean;
}

/**
 * Signing in with a key, for browsers: the key lies in a cookie that no script reads and no other site can have sent along.
 * `GET /session` says who one is and what one may do, so that nobody is offered what will be refused.
 */
export function session({ methodsOf, isSecure }: SessionDoor): FastifyPluginAsync {
  const cookie = { path: '/', httpOnly: true, sameSite: 'strict', secure: isSecure } as const;
  const say = ({ key }: Pick<LocalCaller, 'key'>) => ({
    ...(key && { name: key.name, role: key.role }),
    methods: methodsOf(key?.role),
  });
  const signOut = (reply: FastifyReply) => reply.clearCookie(KEY_COOKIE, cookie).send({});
  return async (app) => {
    app.get('/session', async ({ caller }) => say(caller));
    app.post('/session', async ({ caller, headers: { authorization = '' } }, reply) => {
      // Somebody of this machine is let in without one, and has nothing to keep.
      if (!caller.key) throw new HttpError(badKey());
      return reply.setCookie(KEY_COOKIE, shownKey(authorization), cookie).send(say(caller));
    });
    // Also for whoever has a key that is good no longer.
    app.delete('/session', { config: { isPublic: true } }, async (_, reply) => signOut(reply));
  };
}
