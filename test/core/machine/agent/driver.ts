import { type ProvisionDelivery, StageDelivery } from '../../../../gen/stageplane/v1/node_agent_service.js';
import { millis, runId } from '../../../../src/core/ids.js';
import type { AgentEffect } from '../../../../src/core/machine/agent/effects.js';
import type { AgentEvent, ModelLookup } from '../../../../src/core/machine/agent/events.js';
import type { AgentRules } from '../../../../src/core/machine/agent/rules.js';
import { type AgentState, openAgent, stageName } from '../../../../src/core/machine/agent/state.js';
import { step } from '../../../../src/core/machine/agent/step.js';
import type { StageKey } from '../../../../src/core/machine/state.js';

export const rules: AgentRules = { name: 'alpha', processId: 'p1', pinnedNodeId: 0n, maxStages: 4, stepMillis: 60_000 };
export const LEASE = 300_000;
export const NODE = 2n;

export const footprint = { bytesRead: 1n, bytesDigest: 'd', deviceBytes: 2n, hostBytes: 3n };

export function keyOf(run: bigint, stageIndex: number, generation = 1): StageKey {
  return { runId: runId(run), stageIndex, generation };
}

export interface DeliveryOptions {
  readonly id?: bigint;
  readonly epoch?: bigint;
  readonly generation?: number;
  readonly node?: bigint;
  readonly engine?: string;
  readonly threads?: number;
}

export function delivery(run: bigint, stages: readonly number[], options: DeliveryOptions = {}): ProvisionDelivery {
  const { id = 1n, epoch = 1n, generation = 1, node = NODE, engine = 'fixture', threads = 1 } = options;
  return {
    deliveryId: id,
    generation,
    epoch,
    stages: stages.map((stageIndex) =>
      StageDelivery.fromPartial({
        provision: { runId: run, nodeId: node, stageIndex, stageCount: 8 },
        settings: { engine, device: 'cpu', threads },
        producerNodeId: 1n,
      }),
    ),
  };
}

/** One agent on a virtual clock. Remembers what the last event led to. */
export class Driver {
  state: AgentState;
  now = 1000;
  effects: readonly AgentEffect[] = [];
  session = 0;
  engines: readonly string[] = ['fixture'];
  cores = 1;

  constructor(
    readonly driverRules: AgentRules = rules,
    identity = { instanceId: 'i1', clusterId: '', nodeId: 0n, highestEpoch: 0n },
  ) {
    this.state = openAgent(identity);
  }

  take(event: AgentEvent): readonly AgentEffect[] {
    const { state, effects } = step(this.state, event, millis(this.now), this.driverRules);
    this.state = state;
    this.effects = effects;
    return effects;
  }

  open(): readonly AgentEffect[] {
    this.session += 1;
    const engines = this.engines.map((name) => ({ name, build: 'b', deviceIds: ['cpu'], features: [] }));
    const offer = { engines, descriptor: descriptor(this.cores) };
    return this.take({ kind: 'stream-opened', session: this.session, offer });
  }

  welcome(patch: { epoch?: bigint; clusterId?: string; lease?: number } = {}): readonly AgentEffect[] {
    const { epoch = 1n, clusterId = 'c1', lease = LEASE } = patch;
    return this.take({
      kind: 'welcomed',
      session: this.session,
      welcome: {
        clusterId,
        nodeId: NODE,
        sessionId: 's',
        epoch,
        heartbeatPeriodMillis: 5000,
        leaseTtlMillis: BigInt(lease),
        protocol: 1,
      },
    });
  }

  join(): this {
    this.open();
    this.welcome();
    return this;
  }

  provision(message: ProvisionDelivery, models?: readonly ModelLookup[]): readonly AgentEffect[] {
    return this.take({
      kind: 'provision-delivered',
      session: this.session,
      delivery: message,
      models: models ?? message.stages.map(() => ({ kind: 'found', path: '/models/m.gguf' })),
    });
  }

  stop(key: StageKey, epoch = 1n): readonly AgentEffect[] {
    const stop = { ...key, deliveryId: 9n, reason: 'run ended', epoch };
    return this.take({ kind: 'stop-delivered', session: this.session, stop });
  }

  ready(key: StageKey): readonly AgentEffect[] {
    return this.take({ kind: 'worker-ready', key, footprint });
  }

  exit(key: StageKey, code: number | null = 0, signal: string | null = null, wasKilled = false) {
    return this.take({ kind: 'worker-exited', key, exit: { code, signal, wasKilled }, logTail: ['last words'] });
  }

  acknowledge(...reportIds: bigint[]): readonly AgentEffect[] {
    return this.take({ kind: 'reports-acknowledged', session: this.session, reportIds });
  }

  phase(key: StageKey): string | undefined {
    return this.state.stages.get(stageName(key))?.phase;
  }

  /** The last event's effects in short, those that are said to people left out. */
  did(): string[] {
    return this.effects.flatMap((effect) => (effect.kind === 'say' ? [] : [brief(effect)]));
  }
}

export function brief(effect: AgentEffect): string {
  if (effect.kind === 'arm') return `arm ${effect.timer} ${effect.at}`;
  if (effect.kind === 'send') return `send ${sentence(effect)}`;
  if ('key' in effect) return `${effect.kind} ${short(effect.key)}`;
  if (effect.kind === 'persist-identity') return `persist epoch ${effect.identity.highestEpoch}`;
  return effect.kind;
}

export function short({ runId: run, stageIndex, generation }: StageKey): string {
  return `${run}/${stageIndex} g${generation}`;
}

function sentence({ message: { message } }: Extract<AgentEffect, { kind: 'send' }>): string {
  switch (message?.$case) {
    case 'ack':
      return `ack ${message.value.deliveryId}`;
    case 'nack':
      return `nack ${message.value.deliveryId}`;
    case 'report':
      return `${message.value.report?.$case} ${short({ ...message.value, runId: runId(message.value.runId) })} #${message.value.reportId}`;
    case 'heartbeat':
      return `heartbeat ${message.value.sequence}`;
    default:
      return String(message?.$case);
  }
}

function descriptor(physicalCores: number) {
  return {
    machine: 'm',
    operatingSystem: 'linux',
    architecture: 'x64',
    physicalCores,
    agentVersion: '0',
    devices: [],
    labels: {},
  };
}
