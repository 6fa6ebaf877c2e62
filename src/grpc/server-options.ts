import type { ServerOptions } from '@grpc/grpc-js';
import { limits } from '../core/limits.js';
import { keepaliveOptions } from './keepalive-options.js';

/** Options of the orchestrator's servers. grpc-js bounds none of this by itself (I16). */
export const serverOptions: ServerOptions = {
  ...keepaliveOptions,
  'grpc.max_connection_idle_ms': limits.idleConnectionMillis,
  'grpc.max_concurrent_streams': limits.streamsPerConnection,
  'grpc-node.max_session_memory': limits.connectionMemoryMiB,
  'grpc.max_receive_message_length': limits.serverReceiveBytes,
  'grpc.max_send_message_length': limits.clientReceiveBytes,
  // Channelz keeps a record per call; on long streams it leaks.
  'grpc.enable_channelz': 0,
  // No limit on a connection's age: agents and launchers share one port, and an agent session has no natural end.
};
