import type {
  ProvisionDelivery,
  StageReport,
  StopDelivery,
  SubscribeRequest,
} from '../../gen/stageplane/v1/node_agent_service.js';
import { LoadProgress_Phase, type StageFault, StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { runId } from '../../src/core/ids.js';
import type { StageKey } from '../../src/core/machine/state.js';
import { AGENT_PROTOCOL } from '../../src/core/protocols.js';
import type { Machine } from './machine.js';
import { offerOf } from './offer.js';
import type { Random } from './random.js';
import { Scope } from './scope.js';
import { Stream } from './stream.js';

export const faultyKinds = [
  'never-acknowledges',
  'falls-silent',
  'refuses-all',
  'says-ready-twice',
  'wrong-generation',
  'floods',
  'deaf-to-stops',
  'boasts-an-epoch',
  'reports-for-others',
  'clone',
] as const;
export type FaultyKind = (typeof faultyKinds)[number];

type Report = NonNullable<StageReport['report']>;

const READY: Report = { $case: 'ready', value: { bytesRead: 1n, bytesDigest: '', deviceBytes: 0n, hostBytes: 0n } };

/** An agent that speaks the protocol and breaks it in one way. It has no workers: what it claims, it claims. */
export class FaultyAgent {
  readonly #scope: Scope;
  readonly #processId: string;
  #stream: Stream | undefined;
  #reports = 0n;
  #beats = 0n;
  #clusterId = '';
  /** As it was welcomed: its disk may not have taken it. */
  #nodeId = 0n;
  readonly #held = new Map<string, { key: StageKey; ready: boolean }>();

  /** @param of the machine whose disk a clone has a copy of; its own otherwise */
  constructor(
    private readonly machine: Machine,
    readonly kind: FaultyKind,
    private readonly random: Random,
    private readonly of: Machine = machine,
  ) {
    this.#scope = new Scope(machine.sim.time, { origin: 0, rate: 1 }, machine.scope);
    this.#processId = `${kind}-${machine.index}-${++machine.processes}`;
    this.#clusterId = of.disk.clusterId;
    this.#connect();
  }

  end(): void {
    this.#scope.kill();
    this.#stream?.closeByAgent();
    this.#stream = undefined;
  }

  #connect(): void {
    const { machine, of, random } = this;
    const { sim } = machine;
    const stream = new Stream(
      `${machine.name}!${++machine.streams}`,
      sim.time,
      machine.wire,
      machine.random.fork(`stream ${machine.streams}`),
    );
    this.#stream = stream;
    stream.down.end = {
      received: (message) =>
        this.#scope.run(() => {
          if (message.message?.$case === 'welcome') this.#welcomed(message.message.value);
          if (message.message?.$case === 'provision') this.#provisioned(message.message.value);
          if (message.message?.$case === 'stop') this.#stopped(message.message.value);
        }),
      ended: (how) =>
        this.#scope.run(() => {
          if (how.kind === 'failed' && this.kind === 'clone') sim.hit(`clone refused ${how.error.reason}`);
          this.#stream = undefined;
          this.#scope.after(random.int(300, 8000), () => this.#connect());
        }),
    };
    sim.orchestrator.accept(stream);
    const offer = offerOf(machine);
    this.#send({
      $case: 'hello',
      value: {
        name: of.name,
        instanceId: of.disk.instanceId,
        processId: this.#processId,
        clusterId: this.#clusterId,
        highestEpoch: of.disk.highestEpoch + (this.kind === 'boasts-an-epoch' ? BigInt(random.int(1, 4)) : 0n),
        protocolMin: AGENT_PROTOCOL,
        protocolMax: AGENT_PROTOCOL,
        engines: [...offer.engines],
        descriptor: offer.descriptor,
        held: [],
        pinnedNodeId: 0n,
      },
    });
  }

  #welcomed(welcome: { clusterId: string; nodeId: bigint; epoch: bigint; heartbeatPeriodMillis: number }): void {
    if (this.kind === 'boasts-an-epoch') this.machine.sim.hit('epoch stepped over');
    const { clusterId, nodeId, epoch } = welcome;
    this.#clusterId = clusterId;
    this.#nodeId = nodeId;
    this.machine.save({
      ...this.machine.disk,
      ...(this.of === this.machine && { clusterId, nodeId, highestEpoch: epoch }),
    });
    this.#beat(this.#stream, welcome.heartbeatPeriodMillis);
    if (this.kind === 'floods') this.#flood(this.#stream);
    if (this.kind === 'reports-for-others') this.#meddle(this.#stream);
  }

  #beat(stream: Stream | undefined, period: number): void {
    if (this.#stream !== stream) return;
    const devices = [{ deviceId: 'cpu', freeBytes: this.machine.memoryBytes, residentBytes: 0n }];
    this.#send({ $case: 'heartbeat', value: { sequence: ++this.#beats, devices, stages: [] } });
    this.#scope.after(period, () => this.#beat(stream, period));
  }

  #provisioned({ deliveryId, generation, stages }: ProvisionDelivery): void {
    const keys = stages.map(({ provision }) => ({
      runId: runId(provision!.runId),
      stageIndex: provision!.stageIndex,
      generation,
    }));
    switch (this.kind) {
      case 'never-acknowledges':
        return;
      case 'refuses-all':
        return this.#send({ $case: 'nack', value: { deliveryId, status: fault('SETTINGS_REFUSED') } });
      default:
        this.#send({ $case: 'ack', value: { deliveryId } });
        for (const key of keys) this.#accept(key);
    }
  }

  #accept(key: StageKey): void {
    const { kind, random } = this;
    this.#held.set(nameOf(key), { key, ready: false });
    if (kind === 'wrong-generation') {
      for (const generation of [key.generation + 1, Math.max(0, key.generation - 1)]) {
        this.#report({ ...key, generation }, READY);
        if (random.chance(0.3)) this.#report({ ...key, generation }, { $case: 'fault', value: fault('INTERNAL') });
      }
      return;
    }
    if (kind === 'falls-silent') return;
    this.#scope.after(random.int(50, 4000), () => {
      if (!this.#held.has(nameOf(key))) return;
      this.machine.sim.truth.becameReady(key, this.machine.name);
      this.#report(key, READY);
      if (kind !== 'says-ready-twice') return;
      this.#report(key, READY);
      this.#report(key, { $case: 'loading', value: loading(1n) });
      this.#report(key, READY);
      if (random.chance(0.5)) this.#report(key, { $case: 'fault', value: fault('INTERNAL') });
    });
  }

  #stopped({ runId: run, stageIndex, generation }: StopDelivery): void {
    const key = { runId: runId(run), stageIndex, generation };
    if (this.kind === 'deaf-to-stops') return;
    this.#held.delete(nameOf(key));
    this.#report(key, { $case: 'stopped', value: {} });
  }

  #flood(stream: Stream | undefined): void {
    if (this.#stream !== stream) return;
    const keys = [...this.#held.values()].map(({ key }) => key);
    for (let count = 0; count < 12; count++) {
      const key = keys.length > 0 ? this.random.pick(keys) : { runId: runId(999n), stageIndex: 0, generation: 1 };
      this.#report(key, { $case: 'loading', value: loading(BigInt(count)) });
      if (count === 0) this.#report({ ...key, runId: runId(999n) }, { $case: 'stopped', value: {} });
    }
    this.#scope.after(3000, () => this.#flood(stream));
  }

  /** Says of others' stages what is not so. */
  #meddle(stream: Stream | undefined): void {
    if (this.#stream !== stream) return;
    for (const key of this.machine.sim.liveKeysNotOn(this.#nodeId)) {
      this.#report(key, this.random.chance(0.5) ? READY : { $case: 'stopped', value: {} });
      if (this.random.chance(0.2)) this.#report(key, { $case: 'fault', value: fault('INTERNAL') });
    }
    this.#scope.after(2000, () => this.#meddle(stream));
  }

  #report(key: StageKey, report: Report): void {
    const reportId = report.$case === 'loading' ? 0n : ++this.#reports;
    this.#send({ $case: 'report', value: { ...key, reportId, report } });
  }

  #send(message: NonNullable<SubscribeRequest['message']>): void {
    this.#stream?.up.send({ message });
  }
}

function loading(bytesDone: bigint) {
  return { phase: LoadProgress_Phase.PHASE_BYTES, bytesDone, bytesTotal: 100n };
}

function fault(reason: 'SETTINGS_REFUSED' | 'INTERNAL'): StageFault {
  return { reason: StageFaultReason[`STAGE_FAULT_REASON_${reason}`], message: 'it says so', logTail: [] };
}

function nameOf({ runId: run, stageIndex, generation }: StageKey): string {
  return `${run}/${stageIndex}/${generation}`;
}
