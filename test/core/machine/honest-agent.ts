import { HeldStagePhase as Held, type HeldStage } from '../../../gen/stageplane/v1/node_agent_service.js';
import { LoadProgress_Phase, StageFaultReason } from '../../../gen/stageplane/v1/run.js';
import { type SessionId, sessionId } from '../../../src/core/ids.js';
import type { Effect } from '../../../src/core/machine/effects.js';
import type { ClusterEvent } from '../../../src/core/machine/events.js';
import { sampleHello } from './samples.js';

interface HeldByAgent {
  readonly runId: bigint;
  readonly stageIndex: number;
  readonly generation: number;
  phase: Held;
}

type Report = Extract<ClusterEvent, { kind: 'stage-reported' }>['report']['report'];

/** The least that an agent must do, with a stream that may break between any two messages. */
export class HonestAgent {
  session: SessionId | undefined;
  readonly held = new Map<string, HeldByAgent>();
  private inbox: Extract<Effect, { kind: 'send' }>['message'][] = [];
  /** Reports that nobody has acknowledged: they outlive the stream, as the protocol wants. */
  private unacknowledged = new Map<bigint, { key: HeldByAgent; report: Report }>();
  private process = 1;
  private sessions = 0;
  private reports = 0n;

  constructor(
    readonly name: string,
    private readonly clusterId: () => string,
  ) {}

  take(effect: Effect): void {
    if (effect.kind === 'send' && effect.session === this.session) this.inbox.push(effect.message);
    if (effect.kind === 'close-session' && effect.session === this.session) this.session = undefined;
  }

  connect(): ClusterEvent[] {
    if (this.session !== undefined) return [];
    this.session = sessionId(`${this.name}-${++this.sessions}`);
    this.inbox = [];
    const held: HeldStage[] = [...this.held.values()].map((stage) => ({ ...stage }));
    const processId = `${this.name}-${this.process}`;
    const hello = sampleHello(this.name, { held, processId, clusterId: this.sessions > 1 ? this.clusterId() : '' });
    const again = [...this.unacknowledged].map(([reportId, { key, report }]) =>
      this.reportEvent(reportId, key, report),
    );
    return [{ kind: 'hello-received', session: this.session, hello }, ...again];
  }

  breakStream(): ClusterEvent[] {
    if (this.session === undefined) return [];
    const session = this.session;
    this.session = undefined;
    return [{ kind: 'session-ended', session, goodbye: false }];
  }

  /** kill -9: workers die with it, and nothing is remembered. */
  crash(): ClusterEvent[] {
    this.held.clear();
    this.unacknowledged.clear();
    this.process += 1;
    return this.breakStream();
  }

  /** Handles the oldest message. */
  handleOne(): ClusterEvent[] {
    const message = this.inbox.shift()?.message;
    switch (message?.$case) {
      case 'provision': {
        const { deliveryId, generation, stages } = message.value;
        for (const { provision } of stages) {
          const { runId, stageIndex } = provision!;
          const stage = { runId, stageIndex, generation, phase: Held.HELD_STAGE_PHASE_PREPARING };
          // A known stage is acknowledged again and starts nothing.
          if (!this.held.has(nameOf(stage))) this.held.set(nameOf(stage), stage);
        }
        return [{ kind: 'delivery-acked', session: this.session!, deliveryId }];
      }
      case 'stop': {
        const stage = { ...message.value, phase: Held.HELD_STAGE_PHASE_STOPPED };
        this.held.delete(nameOf(stage));
        return [this.report(stage, { $case: 'stopped', value: {} })];
      }
      case 'reportAck':
        for (const id of message.value.reportIds) this.unacknowledged.delete(id);
        return [];
      default:
        return [];
    }
  }

  /** One of its preparing stages becomes ready, or one of its stages fails. */
  progress(fails: boolean): ClusterEvent[] {
    if (this.session === undefined) return [];
    const healthy = (stage: HeldByAgent) => stage.phase !== Held.HELD_STAGE_PHASE_FAULTED;
    const stage = [...this.held.values()].find((held) => healthy(held) && (fails || isPreparing(held)));
    if (!stage) return [];
    stage.phase = fails ? Held.HELD_STAGE_PHASE_FAULTED : Held.HELD_STAGE_PHASE_READY;
    if (!fails) return [this.report(stage, { $case: 'ready', value: footprint })];
    const fault = { reason: StageFaultReason.STAGE_FAULT_REASON_WORKER_EXITED, message: 'worker exited', logTail: [] };
    return [this.report(stage, { $case: 'fault', value: fault })];
  }

  /** One of its preparing stages has loaded, and waits for its neighbours; said again at will, never kept. */
  waitForEdges(): ClusterEvent[] {
    if (this.session === undefined) return [];
    const stage = [...this.held.values()].find(isPreparing);
    const value = { phase: LoadProgress_Phase.PHASE_WAITING_EDGES, bytesDone: 1n, bytesTotal: 1n };
    return stage ? [this.reportEvent(0n, stage, { $case: 'loading', value })] : [];
  }

  private report(key: HeldByAgent, report: Report): ClusterEvent {
    this.reports += 1n;
    this.unacknowledged.set(this.reports, { key, report });
    return this.reportEvent(this.reports, key, report);
  }

  private reportEvent(reportId: bigint, { runId, stageIndex, generation }: HeldByAgent, report: Report): ClusterEvent {
    return {
      kind: 'stage-reported',
      session: this.session!,
      report: { reportId, runId, stageIndex, generation, report },
    };
  }
}

const footprint = { bytesRead: 1n, bytesDigest: '', deviceBytes: 0n, hostBytes: 0n };

function isPreparing({ phase }: HeldByAgent): boolean {
  return phase === Held.HELD_STAGE_PHASE_PREPARING;
}

function nameOf(stage: Pick<HeldByAgent, 'runId' | 'stageIndex' | 'generation'>): string {
  return `${stage.runId}/${stage.stageIndex}/${stage.generation}`;
}
