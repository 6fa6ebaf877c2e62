import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import {
  type CreateRunResponse,
  type DeleteRunResponse,
  type GetNodeResponse,
  type GetRunResponse,
  type GetStageLogResponse,
  type ListNodesResponse,
  type ListRunsResponse,
  type OrchestratorServiceServer,
  OrchestratorServiceService,
  type PlanRunResponse,
  type StopRunResponse,
  type WatchRunRequest,
  type WatchRunResponse,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { RpcError } from '../../src/grpc/rpc-error.js';
import { encodeStatusDetails } from '../../src/grpc/status-details.js';

type Answer<T> = (request: never) => T | Promise<T>;

/** What the fake answers; a method that is not given is UNIMPLEMENTED, an RpcError travels as ours do. */
export interface Script {
  readonly planRun?: Answer<PlanRunResponse>;
  readonly createRun?: Answer<CreateRunResponse>;
  readonly getRun?: Answer<GetRunResponse>;
  readonly listRuns?: Answer<ListRunsResponse>;
  readonly stopRun?: Answer<StopRunResponse>;
  readonly deleteRun?: Answer<DeleteRunResponse>;
  readonly getStageLog?: Answer<GetStageLogResponse>;
  readonly listNodes?: Answer<ListNodesResponse>;
  readonly getNode?: Answer<GetNodeResponse>;
  readonly watchRun?: (
    request: WatchRunRequest,
    stream: ServerWritableStream<WatchRunRequest, WatchRunResponse>,
  ) => void;
}

/** An OrchestratorService that says what a test tells it to. */
export class FakeOrchestrator {
  /** Every call, in order. */
  readonly calls: { readonly method: string; readonly request: unknown }[] = [];
  address = '127.0.0.1:0';
  private server: Server | undefined;

  constructor(private readonly script: Script) {}

  async start(): Promise<this> {
    // With channelz off, as in our own server, grpc-js could not break connections.
    const server = new Server();
    server.addService(OrchestratorServiceService, this.handlers());
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(this.address, ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
    this.address = `127.0.0.1:${port}`;
    this.server = server;
    return this;
  }

  /** Breaks every connection, as a crash does. */
  stop(): void {
    this.server?.forceShutdown();
  }

  requestsOf(method: string): unknown[] {
    return this.calls.filter((call) => call.method === method).map(({ request }) => request);
  }

  private handlers(): OrchestratorServiceServer {
    const { watchRun, ...unary } = this.script;
    const handlers: Record<string, unknown> = {};
    for (const [method, answer] of Object.entries(unary))
      handlers[method] = this.unary(method, answer as Answer<unknown>);
    if (watchRun) {
      handlers.watchRun = (stream: ServerWritableStream<WatchRunRequest, WatchRunResponse>) => {
        stream.on('error', () => {});
        this.calls.push({ method: 'watchRun', request: stream.request });
        watchRun(stream.request, stream);
      };
    }
    return handlers as unknown as OrchestratorServiceServer;
  }

  private unary(method: string, answer: Answer<unknown>) {
    return async ({ request }: ServerUnaryCall<never, unknown>, callback: sendUnaryData<unknown>) => {
      this.calls.push({ method, request });
      try {
        callback(null, await answer(request));
      } catch (error) {
        const known = error instanceof RpcError ? error : new RpcError(status.INTERNAL, 'TEST', String(error));
        callback({ code: known.code, details: known.message, metadata: encodeStatusDetails(known) });
      }
    };
  }
}
