import type { ClientDuplexStream } from '@grpc/grpc-js';
import {
  HeldStagePhase,
  NodeAgentServiceClient,
  type StageReport,
  type SubscribeRequest,
  type SubscribeResponse,
} from '../../gen/stageplane/v1/node_agent_service.js';
import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { dial } from '../../src/grpc/client.js';
import { sampleHello } from '../core/machine/samples.js';

type Message = NonNullable<SubscribeResponse['message']>;
type Report = NonNullable<StageReport['report']>;

export interface Key {
  readonly runId: bigint;
  readonly stageIndex: number;
  readonly generation: number;
}

interface Held extends Key {
  phase: HeldStagePhase;
}

/** What the orchestrator has said to it, hence must have committed before (I4). */
export interface Heard {
  readonly welcomes: { nodeId: bigint; epoch: bigint }[];
  readonly provisions: Key[];
  readonly stops: Key[];
  /** Reports that were acknowledged. */
  readonly acknowledged: { key: Key; what: Report['$case'] }[];
}

/**
 * An agent that does what the protocol says, without workers: what it is told to start is ready at once. It comes back for
 * as long as it is told to, and remembers over sessions what it holds, what it has started, and what nobody has
 * acknowledged yet.
 */
export class HonestAgent {
  readonly heard: Heard = { welcomes: [], provisions: [], stops: [], acknowledged: [] };
  /** How often each stage was started, by its key as text. */
  readonly starts = new Map<string, number>();
  private readonly held = new Map<string, Held>();
  private readonly unacknowledged = new Map<bigint, { key: Key; report: Report }>();
  private client: NodeAgentServiceClient | undefined;
  private stream: ClientDuplexStream<SubscribeRequest, SubscribeResponse> | undefined;
  private lastReport = 0n;
  private identity = { clusterId: '', highestEpoch: 0n };

  constructor(readonly name: string) {}

  /** Begins a session; resolves when it is reconciled, or over. */
  join(address: string): Promise<void> {
    this.leave();
    this.client = dial(address, NodeAgentServiceClient);
    const stream = this.client.subscribe();
    this.stream = stream;
    const held = [...this.held.values()].map((stage) => ({ ...stage, fault: undefined, footprint: undefined }));
    this.say({ $case: 'hello', value: sampleHello(this.name, { ...this.identity, held }) });
    return new Promise((resolve) => {
      stream.on('data', ({ message }: SubscribeResponse) => {
        if (message && stream === this.stream) this.receive(message);
        if (message?.$case === 'reconciled') resolve();
      });
      stream.on('error', () => resolve());
      stream.on('end', () => resolve());
    });
  }

  leave(): void {
    this.stream?.cancel();
    this.client?.close();
    this.stream = undefined;
  }

  /** Keys of what it holds. */
  holds(): string[] {
    return [...this.held.keys()];
  }

  /** One of its stages fails. */
  fault(runId: bigint): void {
    for (const stage of this.held.values()) {
      if (stage.runId !== runId || stage.phase === HeldStagePhase.HELD_STAGE_PHASE_FAULTED) continue;
      stage.phase = HeldStagePhase.HELD_STAGE_PHASE_FAULTED;
      const fault = { reason: StageFaultReason.STAGE_FAULT_REASON_WORKER_EXITED, message: 'it ended', logTail: [] };
      this.report(stage, { $case: 'fault', value: fault });
    }
  }

  private receive(message: Message): void {
    switch (message.$case) {
      case 'welcome': {
        const { clusterId, epoch, nodeId } = message.value;
        this.identity = { clusterId, highestEpoch: epoch };
        this.heard.welcomes.push({ nodeId, epoch });
        for (const [reportId, { key, report }] of this.unacknowledged) this.sayReport(reportId, key, report);
        break;
      }
      case 'provision': {
        const { deliveryId, generation, stages } = message.value;
        this.say({ $case: 'ack', value: { deliveryId } });
        for (const { provision } of stages) {
          this.start({ runId: provision!.runId, stageIndex: provision!.stageIndex, generation });
        }
        break;
      }
      case 'stop': {
        const { runId, stageIndex, generation } = message.value;
        const key = { runId, stageIndex, generation };
        this.heard.stops.push(key);
        this.held.delete(textOf(key));
        this.report(key, { $case: 'stopped', value: {} });
        break;
      }
      case 'reportAck':
        for (const id of message.value.reportIds) {
          const known = this.unacknowledged.get(id);
          this.unacknowledged.delete(id);
          if (known) this.heard.acknowledged.push({ key: known.key, what: known.report.$case });
        }
    }
  }

  private start(key: Key): void {
    this.heard.provisions.push(key);
    const text = textOf(key);
    if (this.held.has(text)) return;
    this.starts.set(text, (this.starts.get(text) ?? 0) + 1);
    this.held.set(text, { ...key, phase: HeldStagePhase.HELD_STAGE_PHASE_READY });
    this.report(key, {
      $case: 'ready',
      value: { bytesRead: 1n, bytesDigest: '', deviceBytes: 0n, hostBytes: 0n },
    });
  }

  private report({ runId, stageIndex, generation }: Key, report: Report): void {
    this.lastReport += 1n;
    const key = { runId, stageIndex, generation };
    this.unacknowledged.set(this.lastReport, { key, report });
    this.sayReport(this.lastReport, key, report);
  }

  private sayReport(reportId: bigint, key: Key, report: Report): void {
    this.say({ $case: 'report', value: { reportId, ...key, report } });
  }

  private say(message: NonNullable<SubscribeRequest['message']>): void {
    this.stream?.write({ message });
  }
}

export function textOf({ runId, stageIndex, generation }: Key): string {
  return `${runId}/${stageIndex} g${generation}`;
}
