import { Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { onTestFinished } from 'vitest';
import {
  type Hello,
  NodeAgentServiceService,
  type SubscribeRequest,
  type SubscribeResponse,
  type Welcome,
} from '../../gen/stageplane/v1/node_agent_service.js';
import { RpcError } from '../../src/grpc/rpc-error.js';
import { serverStatus } from '../../src/grpc/server-status.js';
import { Mailbox } from './mailbox.js';

type Message = NonNullable<SubscribeRequest['message']>;
type Case = Message['$case'];
type ValueOf<C extends Case> = Extract<Message, { $case: C }>['value'];

/** One agent session, seen from the other side. */
export class ScriptedSession {
  readonly heard = new Mailbox<Message>();
  /** Settles when the agent has ended its side. */
  readonly ended: Promise<void>;

  constructor(readonly call: ServerDuplexStream<SubscribeRequest, SubscribeResponse>) {
    call.on('error', () => {});
    call.on('data', ({ message }: SubscribeRequest) => message && this.heard.put(message));
    this.ended = new Promise((resolve) => {
      call.on('end', resolve);
      call.on('close', resolve);
    });
    call.on('end', () => call.end());
  }

  /** The first message of a kind, heard or to come. */
  async hear<C extends Case>($case: C): Promise<ValueOf<C>> {
    const found = await this.heard.find((message) => message.$case === $case);
    return found.value as ValueOf<C>;
  }

  /** The first report of a kind. */
  async hearReport(kind: 'ready' | 'fault' | 'stopped' | 'loading') {
    const found = await this.heard.find(
      (message) => message.$case === 'report' && message.value.report?.$case === kind,
    );
    if (found.$case !== 'report') throw new Error('unreachable');
    return found.value;
  }

  say(message: NonNullable<SubscribeResponse['message']>): void {
    this.call.write({ message });
  }

  async welcome(patch: Partial<Welcome> = {}): Promise<Hello> {
    const hello = await this.hear('hello');
    const value = {
      clusterId: 'c1',
      nodeId: 2n,
      sessionId: 's',
      epoch: 1n,
      heartbeatPeriodMillis: 5000,
      leaseTtlMillis: 300_000n,
      protocol: 1,
      ...patch,
    };
    this.say({ $case: 'welcome', value });
    this.say({ $case: 'reconciled', value: {} });
    return hello;
  }

  refuse(reason: string, message: string): void {
    this.fail(new RpcError(status.FAILED_PRECONDITION, reason, message));
  }

  fail(error: RpcError): void {
    this.call.emit('error', serverStatus(error));
  }
}

/** A real gRPC server whose every word is the test's. */
export class ScriptedOrchestrator {
  readonly sessions: ScriptedSession[] = [];
  private readonly arrivals = new Mailbox<ScriptedSession>();

  private constructor(readonly address: string) {}

  /** @param port 0 lets the system choose */
  static async open(port = 0): Promise<ScriptedOrchestrator> {
    const server = new Server();
    let orchestrator: ScriptedOrchestrator | undefined;
    server.addService(NodeAgentServiceService, {
      subscribe: (call: ServerDuplexStream<SubscribeRequest, SubscribeResponse>) => {
        const session = new ScriptedSession(call);
        orchestrator?.sessions.push(session);
        orchestrator?.arrivals.put(session);
      },
    });
    const bound = await new Promise<number>((resolve, reject) => {
      server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, chosen) =>
        error ? reject(error) : resolve(chosen),
      );
    });
    onTestFinished(() => server.forceShutdown());
    orchestrator = new ScriptedOrchestrator(`127.0.0.1:${bound}`);
    return orchestrator;
  }

  /** The session with this number, counted from 1, there or to come. */
  session(number: number): Promise<ScriptedSession> {
    return this.arrivals.find((session) => session === this.sessions[number - 1]);
  }
}
