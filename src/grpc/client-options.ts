import type { ClientOptions } from '@grpc/grpc-js';
import { limits } from '../core/limits.js';
import { keepaliveOptions } from './keepalive-options.js';

/** Options of every client: CLI, dashboard and launchers. */
export const clientOptions: ClientOptions = {
  ...keepaliveOptions,
  'grpc.max_receive_message_length': limits.clientReceiveBytes,
  'grpc.max_send_message_length': limits.serverReceiveBytes,
  'grpc.enable_channelz': 0,
  // Otherwise clients of one process share a connection, and one that opens many streams starves the others in silence.
  'grpc.use_local_subchannel_pool': 1,
  // The pool is on its own network: a proxy meant for the web must not swallow the control plane.
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
};

/** Options of a channel that carries one agent session. */
export const sessionOptions: ClientOptions = {
  ...clientOptions,
  // The retry buffer keeps every message of a stream; sessions reconnect by themselves.
  'grpc.enable_retries': 0,
  'grpc.max_reconnect_backoff_ms': limits.reconnectMillis,
};
