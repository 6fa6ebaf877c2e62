import { limits } from '../core/limits.js';

/** Only tests set it, in milliseconds: they cannot wait for half a minute. */
const asked = Number(process.env.STAGEPLANE_KEEPALIVE_MILLIS) || limits.keepaliveMillis;

const timeMillis = Math.min(asked, limits.keepaliveMillis);
const answerMillis = Math.min(asked, limits.keepaliveAnswerMillis);

/** Milliseconds in which either side notices that the other is gone, although nothing says so. */
export const deadPeerMillis = timeMillis + answerMillis;

/** Both sides ask: without it every write to a frozen peer, or into a cable that is cut, "succeeds". */
export const keepaliveOptions = {
  'grpc.keepalive_time_ms': timeMillis,
  'grpc.keepalive_timeout_ms': answerMillis,
};
