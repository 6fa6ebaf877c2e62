import type { Readable } from 'node:stream';
import { type Server, type ServerOptions, type StatusObject, status } from '@grpc/grpc-js';
import pino, { type Logger } from 'pino';
import { NodeAgentServiceService } from '../../gen/stageplane/v1/node_agent_service.js';
import { OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import { addService, type ServiceBodies } from '../../src/grpc/add-service.js';
import type { Bound } from '../../src/grpc/bind-result.js';
import { bindTcp } from '../../src/grpc/bind-tcp.js';
import type { CallRates } from '../../src/grpc/call-rates.js';
import { publicBounds } from '../../src/grpc/connection-bounds.js';
import type { ConnectionBounds } from '../../src/grpc/connections.js';
import { newServer } from '../../src/grpc/new-server.js';
import { OpenStreams } from '../../src/grpc/open-streams.js';
import { RpcError } from '../../src/grpc/rpc-error.js';

export type OrchestratorBodies = ServiceBodies<typeof OrchestratorServiceService>;
export type AgentBodies = ServiceBodies<typeof NodeAgentServiceService>;

export interface TestServer {
  readonly server: Server;
  readonly bound: Bound;
  readonly address: string;
  readonly streams: OpenStreams;
  readonly logger: Logger;
  /** Every log record so far. */
  readonly log: Record<string, unknown>[];
}

export interface TestServerParts {
  readonly orchestrator?: Partial<OrchestratorBodies>;
  readonly agent?: Partial<AgentBodies>;
  readonly bounds?: Partial<ConnectionBounds>;
  readonly options?: ServerOptions;
  readonly rates?: CallRates;
}

/** The real server on loopback, with the bodies a test cares about; all others answer UNIMPLEMENTED. */
export async function startTestServer(parts: TestServerParts = {}): Promise<TestServer> {
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => void log.push(JSON.parse(line)) });
  const streams = new OpenStreams();
  const { server, connections } = newServer({ ...publicBounds, ...parts.bounds }, logger, parts.options, parts);
  const surroundings = { logger, streams };
  addService(
    server,
    OrchestratorServiceService,
    complete(OrchestratorServiceService, parts.orchestrator),
    surroundings,
  );
  addService(server, NodeAgentServiceService, complete(NodeAgentServiceService, parts.agent), surroundings);
  const bound = await bindTcp(server, '127.0.0.1:0', { connections });
  if (bound.kind === 'refused') throw new Error(bound.message);
  return { server, bound, address: bound.address, streams, logger, log };
}

function complete<Service extends object>(
  service: Service,
  bodies: Partial<ServiceBodies<Service>> = {},
): ServiceBodies<Service> {
  const unimplemented = async () => {
    throw new RpcError(status.UNIMPLEMENTED, 'NOT_IN_THIS_TEST', 'not part of this test');
  };
  return Object.fromEntries(
    Object.keys(service).map((name) => [name, bodies[name as keyof Service] ?? unimplemented]),
  ) as unknown as ServiceBodies<Service>;
}

/** A promise and the function that settles it. */
export function signalled<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** The status that a client's call ends with; `once` would reject with the error event that comes beside it. */
export function ending(call: {
  once(event: 'status', listener: (status: StatusObject) => void): unknown;
}): Promise<StatusObject> {
  return new Promise((resolve) => call.once('status', resolve));
}

/**
 * Makes a client stop reading after its first message; settles when it has. It must have begun: a grpc-js client that
 * never asked for a message takes everything that comes into its own memory, and the server never feels it.
 */
export function stopReadingAfterFirst(call: Readable): Promise<void> {
  return new Promise((resolve) => {
    call.once('data', () => {
      call.pause();
      resolve();
    });
  });
}
