import { limits } from '../core/limits.js';

/** Only tests set it, in milliseconds: they cannot wait for half a minute. */
const asked = Number(process.env.STAGEPLANE_KEEPALIVE_MILLIS) || limits.keepaliveMillis;

/** Both sides ask: without it every write to a frozen peer, or into a cable that is cut, "succeeds". */
export const keepaliveOptions = {
  'grpc.keepalive_time_ms': Math.min(asked, limits.keepaliveMillis),
  'grpc.keepalive_timeout_ms': Math.min(asked, limits.keepaliveAnswerMillis),
};
