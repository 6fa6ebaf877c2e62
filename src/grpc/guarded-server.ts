import type { Server, ServerDuplexStream, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { OpenStreams } from './open-streams.js';
import { StreamWriter } from './stream-writer.js';

type StreamCall = ServerDuplexStream<unknown, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: the shape that grpc-js itself gives handlers it knows nothing about.
type Handler = (call: any, callback?: any) => unknown;

/**
 * A server for services that come from a library: each of their streams ends with our stop, and a client that asks
 * without reading the answers is no longer listened to until it reads (I16).
 */
export function guardedServer(server: Server, streams: OpenStreams): Pick<Server, 'addService'> {
  return {
    addService(service, implementation) {
      const guarded: UntypedServiceImplementation = { ...implementation };
      for (const name of streamingMethods(service)) {
        const handler = implementation[name] as Handler | undefined;
        if (handler !== undefined) guarded[name] = (call: StreamCall) => run(handler, call, streams);
      }
      server.addService(service, guarded);
    },
  };
}

function run(handler: Handler, call: StreamCall, streams: OpenStreams): void {
  call.on('error', () => {});
  streams.add(new StreamWriter(call));
  handler(call);
  // Listening for requests is the library's choice: only then is there something to hold back.
  if (call.listenerCount('data') === 0) return;
  call.on('data', () => {
    if (!call.writableNeedDrain) return;
    call.pause();
    call.once('drain', () => call.resume());
  });
}

function streamingMethods(service: ServiceDefinition): string[] {
  return Object.entries(service)
    .filter(([, method]) => method.responseStream)
    .flatMap(([name, method]) => (method.originalName === undefined ? [name] : [name, method.originalName]));
}
