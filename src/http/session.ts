import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import type { Role } from '../core/role.js';
import type { LocalCaller } from '../grpc/local-calls.js';
import type { KeyRing } from './key-ring.js';
import { type Admission, badKey, KEY_COOKIE, peerOf } from './visitor.js';

export interface SessionDoor {
  readonly keys: KeyRing;
  /** Methods that a role may call, such as `StopRun`; undefined asks for somebody of this machine, who shows no key. */
  readonly methodsOf: (role: Role | undefined) => readonly string[];
  /** Somebody came with a key that is none. */
  readonly onRefused: Admission['onRefused'];
  /** Whether the cookie may only travel over TLS. */
  readonly isSecure: boolean;
}

/**
 * Signing in with a key, for browsers: the key lies in a cookie that no script reads and no other site can have sent along.
 * `GET /session` says who one is and what one may do, so that nobody is offered what will be refused.
 */
export function session({ keys, methodsOf, onRefused, isSecure }: SessionDoor): FastifyPluginAsync {
  const cookie = { path: '/', httpOnly: true, sameSite: 'strict', secure: isSecure } as const;
  const say = ({ key }: Pick<LocalCaller, 'key'>) => ({
    ...(key && { name: key.name, role: key.role }),
    methods: methodsOf(key?.role),
  });
  const signOut = (reply: FastifyReply) => reply.clearCookie(KEY_COOKIE, cookie).send({});
  return async (app) => {
    app.get('/session', async ({ caller }) => say(caller));
    // Whoever has no key yet, or one that is good no longer, comes here first and last.
    app.post<{ Body: { key?: unknown } }>('/session', { config: { isPublic: true } }, async (request, reply) => {
      const { body } = request;
      const shown = typeof body?.key === 'string' ? body.key.trim() : '';
      const key = keys.find(shown);
      if (!key) {
        const refused = badKey();
        const { statusCode, ...error } = refused;
        onRefused(peerOf(request), refused);
        return reply.code(statusCode).send({ error });
      }
      return reply.setCookie(KEY_COOKIE, shown, cookie).send(say({ key }));
    });
    app.delete('/session', { config: { isPublic: true } }, async (_, reply) => signOut(reply));
  };
}
