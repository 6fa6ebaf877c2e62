import { type Node, NodeConditionType as Type } from '../../../gen/stageplane/v1/node.js';
import { formatAge } from '../../cli/format/duration.js';
import { escapeControls } from '../../cli/format/escape.js';
import { nodeState } from '../../cli/format/node-state.js';
import type { State, Tone } from '../parts/tone.js';
import { type DeviceView, deviceView } from './device-view.js';

/** One node as its card shows it; every text is safe to show. */
export interface NodeView {
  readonly id: string;
  readonly name: string;
  readonly state: State;
  /** Why it takes no stage; empty when it does. */
  readonly why: string;
  /** `linux x64, 16 cores` */
  readonly machine: string;
  readonly version: string;
  readonly engines: string;
  readonly heard: string;
  readonly stages: string;
  readonly labels: readonly string[];
  readonly devices: readonly DeviceView[];
  readonly drain: DrainView | undefined;
  readonly offers: ReadonlySet<NodeOffer>;
}

/** What makes sense to do to a node as it is. Whether it may be done is the orchestrator's to say. */
export type NodeOffer = 'cordon' | 'uncordon' | 'drain' | 'forget';

export interface DrainView {
  readonly title: string;
  readonly runs: readonly { readonly runId: string; readonly text: string }[];
}

const tones: Readonly<Record<string, Tone>> = {
  schedulable: 'good',
  reconciling: 'busy',
  draining: 'busy',
  drained: 'over',
  cordoned: 'over',
  unschedulable: 'over',
  away: 'away',
  lost: 'bad',
};

/** @param now by the clock of the orchestrator, as all of a node's times are */
export function nodeView(node: Node, now: Date): NodeView {
  const { descriptor, engines, reservations, liveStages, lastContact } = node;
  const word = nodeState(node);
  return {
    id: String(node.nodeId),
    name: escapeControls(node.name),
    state: { tone: tones[word] ?? 'away', word },
    why: word === 'schedulable' ? '' : whyNot(node),
    machine: machineOf(node),
    version: escapeControls(descriptor?.agentVersion ?? ''),
    engines: escapeControls(engines.map(({ name }) => name).join(', ')) || 'none',
    heard: lastContact ? `${formatAge(lastContact, now)} ago` : 'not since the orchestrator started',
    stages: liveStages === 0 ? 'none' : `${liveStages} live`,
    labels: Object.entries(descriptor?.labels ?? {}).map(([key, value]) => escapeControls(`${key}=${value}`)),
    devices: (descriptor?.devices ?? []).map((device) =>
      deviceView(
        device,
        reservations.find(({ deviceId }) => deviceId === device.deviceId),
      ),
    ),
    drain: drainOf(node),
    offers: offersOf(node),
  };
}

function whyNot({ conditions }: Node): string {
  const schedulable = conditions.find(({ type }) => type === Type.NODE_CONDITION_TYPE_SCHEDULABLE);
  return escapeControls(schedulable?.message ?? '');
}

function machineOf({ descriptor }: Node): string {
  const { operatingSystem = '', architecture = '', physicalCores = 0 } = descriptor ?? {};
  const cores = physicalCores === 1 ? '1 core' : physicalCores > 0 ? `${physicalCores} cores` : 'cores unknown';
  return escapeControls([[operatingSystem, architecture].filter(Boolean).join(' '), cores].filter(Boolean).join(', '));
}

function drainOf({ drain, liveStages }: Node): DrainView | undefined {
  if (!drain) return undefined;
  const until = drain.deadline ? `, until ${drain.deadline.toLocaleString()}` : '';
  const count = liveStages === 1 ? '1 stage' : `${liveStages} stages`;
  const title = liveStages === 0 ? 'Drained: no stage is left' : `Draining: ${count} left${until}`;
  return {
    title,
    runs: drain.runs.map(({ runId, stages, waits }) => ({
      runId: String(runId),
      text: `${stages === 1 ? '1 stage' : `${stages} stages`}: ${escapeControls(waits)}`,
    })),
  };
}

function offersOf({ conditions, drain, liveStages }: Node): Set<NodeOffer> {
  const met = new Set(conditions.filter((condition) => condition.met).map(({ type }) => type));
  const isKeptFree = met.has(Type.NODE_CONDITION_TYPE_CORDONED) || met.has(Type.NODE_CONDITION_TYPE_DRAINING);
  const isDrained = drain !== undefined && liveStages === 0;
  return new Set<NodeOffer>([
    isKeptFree ? 'uncordon' : 'cordon',
    ...(isDrained ? [] : ['drain' as const]),
    ...(met.has(Type.NODE_CONDITION_TYPE_CONNECTED) ? [] : ['forget' as const]),
  ]);
}
