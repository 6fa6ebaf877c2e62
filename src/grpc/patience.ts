import { limits } from '../core/limits.js';

/** Only tests set it, in milliseconds: they cannot wait for half a minute. */
const asked = Number(process.env.STAGEPLANE_PATIENCE_MILLIS) || Number.POSITIVE_INFINITY;

/** Milliseconds that a client may take for its TLS handshake. */
export const handshakeMillis = Math.min(asked, limits.handshakeMillis);

/** Milliseconds from the connection to its first call. */
export const firstCallMillis = Math.min(asked, limits.firstCallMillis);

/** Milliseconds from a connection over HTTP to its first request that is let in. */
export const firstRequestMillis = Math.min(asked, limits.httpIdleMillis);

/** Milliseconds that a socket may outlive its session. */
export const lastWordsMillis = Math.min(asked, limits.lastWordsMillis);

/** Milliseconds that a client may leave a message lie which is meant for it. */
export const unreadMillis = Math.min(asked, limits.slowReaderMillis);

/** Milliseconds that an agent may take from the beginning of its session to Hello. */
export const helloMillis = Math.min(asked, limits.helloMillis);
