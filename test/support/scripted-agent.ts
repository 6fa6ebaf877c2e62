import type { ChannelCredentials, ClientDuplexStream } from '@grpc/grpc-js';
import {
  type Hello,
  NodeAgentServiceClient,
  type StageReport,
  type SubscribeRequest,
  type SubscribeResponse,
} from '../../gen/stageplane/v1/node_agent_service.js';
import { dial } from '../../src/grpc/client.js';
import { clientOptions } from '../../src/grpc/client-options.js';
import { fromServiceError } from '../../src/grpc/from-service-error.js';
import type { RpcError } from '../../src/grpc/rpc-error.js';
import { sampleHello } from '../core/machine/samples.js';

type Received = NonNullable<SubscribeResponse['message']>;
type Case<K extends Received['$case']> = Extract<Received, { $case: K }>['value'];

/** An agent that does what the test says and nothing else, over a real connection. */
export class ScriptedAgent {
  readonly ended: Promise<RpcError | undefined>;
  private readonly client: NodeAgentServiceClient;
  private readonly stream: ClientDuplexStream<SubscribeRequest, SubscribeResponse>;
  private readonly received: Received[] = [];
  private wake: () => void = () => {};
  private reports = 0n;
  private over = false;

  /** @param as what it shows to an orchestrator that asks */
  constructor(address: string, as?: ChannelCredentials) {
    this.client = dial(address, NodeAgentServiceClient, clientOptions, as);
    this.stream = this.client.subscribe();
    this.stream.on('data', (response: SubscribeResponse) => {
      if (response.message) this.received.push(response.message);
      this.wake();
    });
    this.ended = new Promise((resolve) => {
      this.stream.on('error', (error) => resolve(fromServiceError(error as never)));
      this.stream.on('end', () => resolve(undefined));
    }).then((error) => {
      this.over = true;
      this.wake();
      return error as RpcError | undefined;
    });
  }

  /** Connects, says Hello and waits until it is reconciled. */
  static async join(
    address: string,
    name: string,
    overrides: Partial<Hello> = {},
    as?: ChannelCredentials,
  ): Promise<ScriptedAgent> {
    const agent = new ScriptedAgent(address, as);
    agent.say({ $case: 'hello', value: sampleHello(name, overrides) });
    await agent.next('reconciled');
    return agent;
  }

  say(message: NonNullable<SubscribeRequest['message']>): void {
    this.stream.write({ message });
  }

  report(key: { runId: bigint; stageIndex: number; generation: number }, report: StageReport['report']): void {
    this.reports += 1n;
    this.say({ $case: 'report', value: { reportId: this.reports, ...key, report } });
  }

  /** The next message of a kind; those of other kinds stay for later. */
  async next<K extends Received['$case']>(kind: K): Promise<Case<K>> {
    for (;;) {
      const at = this.received.findIndex((message) => message.$case === kind);
      if (at >= 0) return this.received.splice(at, 1)[0]?.value as Case<K>;
      if (this.over) throw new Error(`the session ended before ${kind}: ${(await this.ended)?.message ?? 'no error'}`);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  /** Accepts the next provision and reports each of its stages ready. */
  async becomeReady(): Promise<void> {
    const { deliveryId, generation, stages } = await this.next('provision');
    this.say({ $case: 'ack', value: { deliveryId } });
    for (const { provision } of stages) {
      const { runId, stageIndex } = provision!;
      this.report({ runId, stageIndex, generation }, { $case: 'ready', value: readyFootprint });
    }
  }

  /** Confirms the next stop. */
  async confirmStop(): Promise<void> {
    const { runId, stageIndex, generation } = await this.next('stop');
    this.report({ runId, stageIndex, generation }, { $case: 'stopped', value: {} });
  }

  /** Breaks the connection without a word. */
  async vanish(): Promise<void> {
    this.stream.cancel();
    await this.ended;
    this.client.close();
  }
}

const readyFootprint = { bytesRead: 1n, bytesDigest: '', deviceBytes: 0n, hostBytes: 0n };
