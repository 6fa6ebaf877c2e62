import { limits } from '../core/limits.js';

/** Of every socket of a gateway, accepted or dialled. Unix sockets ignore what is TCP's alone. */
export const socketOptions = {
  // One side's end is passed on by itself: the other may still have bytes on their way.
  allowHalfOpen: true,
  // A token must not wait for the next one.
  noDelay: true,
  // The default, 16 KiB, would stop and start the stream for each object.
  highWaterMark: limits.gatewayBufferBytes,
  // A machine that lost its power never says so, and an edge may be silent for hours.
  keepAlive: true,
  keepAliveInitialDelay: limits.gatewayKeepaliveMillis,
} as const;
