import { EdgeKind, type EdgePlan } from '../../../gen/stageplane/v1/plan.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import {
  LoadProgress_Phase as LoadPhase,
  type LoadProgress,
  type Run,
  RunPhase,
  type StageStatus,
  type StageUsage,
} from '../../../gen/stageplane/v1/run.js';
import { escapeControls } from '../../cli/format/escape.js';
import { label } from '../../cli/format/labels.js';
import { formatBytes } from '../../core/format-bytes.js';
import type { State } from '../parts/tone.js';
import { stageStateOf } from './states.js';

/** A run as a picture: from the token endpoint through every stage and back to it. */
export interface PipelineView {
  readonly layers: number;
  readonly endpoint: { readonly state: State; readonly text: string };
  readonly stages: readonly StageView[];
}

export interface StageView {
  readonly index: number;
  readonly node: string;
  readonly state: State;
  /** `[0, 12)`; half-open. */
  readonly layers: string;
  /** Of all layers, 0 to 1. */
  readonly share: number;
  /** While it loads: 0 to 1, and in words. */
  readonly loading: { readonly share: number; readonly text: string } | undefined;
  /** Device, memory, threads. */
  readonly facts: readonly string[];
  /** What is in its KV cache; may be empty. */
  readonly held: string;
  readonly fault: string;
  /** What comes in. */
  readonly inbound: EdgeView;
  /** What goes out; only of the last stage, whose consumer is no other stage. */
  readonly outbound: EdgeView | undefined;
}

export interface EdgeView {
  /** `token in`, `activations`, `token out`. */
  readonly kind: string;
  /** `16 KiB per row`, `4 B per token`. */
  readonly unit: string;
  /** `rows of 4096 × float32, at most 512 MiB at once` */
  readonly shape: string;
}

/** @param loading the newest progress of stages, by their index, where a stream has told of it */
export function pipelineView(run: Run, loading: ReadonlyMap<number, LoadProgress>): PipelineView {
  const { plan, stages, settings } = run;
  const layers = plan?.model?.numLayers ?? 0;
  const edges = plan?.edges ?? [];
  return {
    layers,
    endpoint: endpointOf(run),
    stages: stages.map((stage, at) => ({
      ...stageView(stage, settings[at], loading.get(stage.stageIndex) ?? stage.progress),
      share: layers > 0 ? (stage.layerEndExclusive - stage.layerStart) / layers : 0,
      inbound: edgeView(edges[at]),
      outbound: at === stages.length - 1 ? edgeView(edges[at + 1]) : undefined,
    })),
  };
}

function stageView(stage: StageStatus, settings: StageSettings | undefined, progress: LoadProgress | undefined) {
  const state = stageStateOf(stage.phase);
  const { usage, fault } = stage;
  return {
    index: stage.stageIndex,
    node: escapeControls(stage.nodeName || `node ${stage.nodeId}`),
    state,
    layers: `[${stage.layerStart}, ${stage.layerEndExclusive})`,
    loading: state.word === 'loading' && progress ? loadingOf(progress) : undefined,
    facts: factsOf(settings),
    held: usage && usage.heldSessions > 0 ? heldText(usage) : '',
    fault: fault ? escapeControls(`${label.faultReason(fault.reason)}: ${fault.message}`) : '',
  };
}

function heldText({ heldTokens, heldSessions }: StageUsage): string {
  return `holds ${heldTokens} tokens of ${heldSessions === 1 ? '1 session' : `${heldSessions} sessions`}`;
}

function factsOf(settings: StageSettings | undefined): string[] {
  if (!settings) return [];
  const { device, expectedBytes, threads } = settings;
  return [
    escapeControls(device),
    ...(expectedBytes > 0n ? [formatBytes(expectedBytes)] : []),
    ...(threads > 0 ? [threads === 1 ? '1 thread' : `${threads} threads`] : []),
  ].filter(Boolean);
}

function loadingOf({ phase, bytesDone, bytesTotal }: LoadProgress) {
  if (phase === LoadPhase.PHASE_WAITING_EDGES) return { share: 1, text: 'loaded, waits for its neighbours' };
  const share = bytesTotal > 0n ? Math.min(1, Number(bytesDone) / Number(bytesTotal)) : 0;
  return { share, text: `${Math.floor(share * 100)}%, ${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)}` };
}

function endpointOf({ phase, textLoad }: Run): PipelineView['endpoint'] {
  if (textLoad) {
    const { runningAnswers, waitingPrompts } = textLoad;
    const answers = runningAnswers === 1 ? '1 answer' : `${runningAnswers} answers`;
    return { state: { tone: 'good', word: 'ready' }, text: `${answers} under way, ${waitingPrompts} waiting` };
  }
  if (phase === RunPhase.RUN_PHASE_DONE) return { state: { tone: 'over', word: 'closed' }, text: '' };
  if (phase === RunPhase.RUN_PHASE_RUNNING) return { state: { tone: 'good', word: 'ready' }, text: '' };
  return { state: { tone: 'away', word: 'waiting' }, text: '' };
}

const kinds: Readonly<Partial<Record<EdgeKind, string>>> = {
  [EdgeKind.EDGE_KIND_TOKEN_IN]: 'tokens in',
  [EdgeKind.EDGE_KIND_ACTIVATION]: 'activations',
  [EdgeKind.EDGE_KIND_TOKEN_OUT]: 'tokens out',
};

export function edgeView(edge: EdgePlan | undefined): EdgeView {
  const spec = edge?.objectSpec;
  const kind = kinds[edge?.kind ?? EdgeKind.UNRECOGNIZED] ?? 'edge';
  const width = spec?.dtypeWidthBytes ?? 0;
  const most = `at most ${formatBytes(spec?.maxExtent ?? 0n)} at once`;
  const rule = spec?.shape?.rule;
  if (rule?.$case !== 'activationRows') return { kind, unit: `${width} B per token`, shape: `token ids, ${most}` };
  const { hiddenDim } = rule.value;
  return {
    kind,
    unit: `${formatBytes(hiddenDim * width)} per row`,
    shape: `rows of ${hiddenDim} × ${width} B, ${most}`,
  };
}
