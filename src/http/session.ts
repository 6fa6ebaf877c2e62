import type { FastifyPluginAsync } from 'fastify';
import type { Role } from '../core/role.js';
import type { LocalCaller } from '../grpc/local-calls.js';
import { bearer, KEY_COOKIE } from './visitor.js';

export interface SessionDoor {
  /** Methods that a role may call, such as `StopRun`; undefined asks for somebody of this machine, who shows no key. */
  readonly methodsOf: (role: Role | undefined) => readonly string[];
  /** Whether the cookie may only travel over TLS. */
  readonly isSecure: boolean;
}

/**
 * Signing in, for browsers: who comes with a key, as programs do, takes it along in a cookie that no script reads and no other
 * site can have sent along. `GET /session` says who one is and what one may do, so that nobody is offered what will be refused.
 */
export function session({ methodsOf, isSecure }: SessionDoor): FastifyPluginAsync {
  const cookie = { path: '/', httpOnly: true, sameSite: 'strict', secure: isSecure } as const;
  const say = ({ key }: LocalCaller) => ({
    ...(key && { name: key.name, role: key.role }),
    methods: methodsOf(key?.role),
  });
  return async (app) => {
    app.get('/session', async ({ caller }) => say(caller));
    app.post('/session', async ({ caller, headers: { authorization } }, reply) => {
      if (caller.key && authorization !== undefined) reply.setCookie(KEY_COOKIE, bearer(authorization), cookie);
      return say(caller);
    });
    // Also for whoever's key is good no longer.
    app.delete('/session', { config: { isPublic: true } }, async (_, reply) =>
      reply.clearCookie(KEY_COOKIE, cookie).send({}),
    );
  };
}
