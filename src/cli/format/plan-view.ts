import type { GgufSource } from '../../../gen/stageplane/v1/model.js';
import type { Node } from '../../../gen/stageplane/v1/node.js';
import { type RunPlan, SamplingPolicy } from '../../../gen/stageplane/v1/plan.js';
import { CandidateStatus, type PlanReport } from '../../../gen/stageplane/v1/planner.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { formatBytes } from '../../core/format-bytes.js';
import { candidateTable } from './candidate-table.js';
import { deviceLoads } from './device-load.js';
import { escapeControls } from './escape.js';
import { exclusionLines } from './exclusion-lines.js';
import { label } from './labels.js';
import { layerBar } from './layer-bar.js';
import { memoryPicture } from './memory-picture.js';
import { nodeTitle } from './node-title.js';
import { fieldColumns, renderFields, renderTable } from './table.js';
import { wrapText } from './wrap-text.js';

export interface PlanPicture {
  readonly plan: RunPlan;
  /** In stage order. */
  readonly settings: readonly StageSettings[];
  readonly report: PlanReport | undefined;
  /** Every known node; their devices are the scale of the memory. */
  readonly nodes: readonly Node[];
}

type Names = ReadonlyMap<bigint, string>;

const BAR_CELLS = 32;

/** A plan as a picture: which node gets which layers and bytes, what else was looked at, and what is worth knowing. */
export function planView({ plan, settings, report, nodes }: PlanPicture): string {
  const names: Names = new Map(nodes.map(({ nodeId, name }) => [nodeId, name]));
  return [
    renderFields(planFields(plan, settings, report)),
    memoryOf(settings, report, nodes, names),
    stageTable(plan, settings, names),
    otherCandidates(settings, report, nodes),
    noteLines(report),
  ]
    .filter(Boolean)
    .join('\n\n');
}

/** Nothing when the plan was not priced. */
function memoryOf(
  settings: readonly StageSettings[],
  report: PlanReport | undefined,
  nodes: readonly Node[],
  names: Names,
): string {
  const selected = report?.candidates.find(({ status }) => status === CandidateStatus.CANDIDATE_STATUS_SELECTED);
  const loads = deviceLoads(selected?.memory ?? [], nodes, (stage) => settings[stage]?.device ?? '');
  return loads.length > 0 ? memoryPicture(loads, names) : '';
}

function stageTable(plan: RunPlan, settings: readonly StageSettings[], names: Names): string {
  const layers = plan.model?.numLayers ?? 0;
  const rows = plan.stages.map(({ stageIndex, nodeId, layerStart, layerEndExclusive }) => [
    String(stageIndex),
    nodeTitle(names.get(nodeId), nodeId),
    `[${layerStart}, ${layerEndExclusive})`,
    layerBar(layerStart, layerEndExclusive, layers, BAR_CELLS),
    String(settings[stageIndex]?.threads ?? '-'),
    expectedBytes(settings[stageIndex]),
  ]);
  const columns = [
    { head: 'STAGE', align: 'right' },
    { head: 'NODE' },
    { head: 'LAYERS' },
    { head: `0 TO ${layers}` },
    { head: 'THREADS', align: 'right' },
    { head: 'BYTES', align: 'right' },
  ] as const;
  return renderTable(columns, rows);
}

/** A placement that was given is its own and only candidate, of which all has been said. */
function otherCandidates(
  [first]: readonly StageSettings[],
  report: PlanReport | undefined,
  nodes: readonly Node[],
): string {
  const candidates = report?.candidates ?? [];
  return candidates.length > 1 ? candidateTable(candidates, nodes, first?.device ?? '') : '';
}

function planFields(plan: RunPlan, settings: readonly StageSettings[], report: PlanReport | undefined) {
  const { modelId = '', numLayers = 0, hiddenDim = 0, ggufSource } = plan.model ?? {};
  const [first] = settings;
  const fields: (readonly [string, string])[] = [
    ['model', `${modelId}, ${numLayers} layers of width ${hiddenDim}, ${sourceText(ggufSource)}`],
  ];
  if (first) {
    const { engine, contextLength, device } = first;
    fields.push(['engine', `${engine} on ${device}, ${contextLength} tokens of context`]);
    fields.push(['settings', settingsText(first)]);
  }
  fields.push(...samplingFields(plan));
  if (report?.fidelity) fields.push(['fidelity', report.fidelity]);
  if (report?.selected) {
    const { planId, strategy, selectedBecause } = report.selected;
    if (selectedBecause.length > 0) fields.push(['chosen', `${strategy}; ${selectedBecause.join('; ')}`]);
    fields.push(['plan id', planId]);
  }
  const indent = fieldColumns(fields.map(([name]) => name));
  return fields.map(([name, value]) => [name, wrapText(escapeControls(value), indent)] as const);
}

/** What all stages share; threads may differ, and have a column. */
function settingsText({ microBatch, sessions, kvCacheType, flashAttention, seed }: StageSettings): string {
  const flash = flashAttention ? 'on' : 'off';
  const counts = `micro-batch ${microBatch}, sessions ${sessions}`;
  return `${counts}, KV cache ${label.kvCacheType(kvCacheType)}, flash attention ${flash}, seed ${seed}`;
}

/** Greedy is what nobody asked for, and needs no words. */
function samplingFields({ runtime }: RunPlan): (readonly [string, string])[] {
  const policy = runtime?.sampling ?? SamplingPolicy.create();
  const { temperatureMillis, topK } = policy;
  const more = furtherSampling(policy);
  if (temperatureMillis === 0 && topK === 0 && more.length === 0) return [];
  const tokens = topK === 0 ? 'all tokens' : `top ${topK}`;
  return [['sampling', [`temperature ${temperatureMillis / 1000}`, tokens, ...more].join(', ')]];
}

function furtherSampling(policy: SamplingPolicy): string[] {
  const named: [string, number][] = [
    ['top-p', policy.topPMillis],
    ['min-p', policy.minPMillis],
    ['repeat penalty', policy.repeatPenaltyMillis],
    ['presence penalty', policy.presencePenaltyMillis],
    ['frequency penalty', policy.frequencyPenaltyMillis],
  ];
  const lookBack = policy.repeatLastN === 0 ? [] : [`repeat last ${policy.repeatLastN}`];
  return [
    ...named.filter(([, millis]) => millis !== 0).map(([name, millis]) => `${name} ${millis / 1000}`),
    ...lookBack,
  ];
}

/** Warnings and exclusions, as one block; nothing when there are none. */
function noteLines(report: PlanReport | undefined): string {
  const warnings = (report?.warnings ?? []).map((warning) => `warning: ${escapeControls(warning)}`);
  const lines = [...warnings, ...exclusionLines(report?.exclusions ?? [])];
  return lines.map((line) => wrapText(line, 2)).join('\n');
}

/** 0 is what an orchestrator says that could not read the file. */
function expectedBytes(settings: StageSettings | undefined): string {
  return settings && settings.expectedBytes > 0n ? formatBytes(settings.expectedBytes) : 'unknown';
}

function sourceText(gguf: GgufSource | undefined): string {
  switch (gguf?.source?.$case) {
    case 'localPath':
      return gguf.source.value;
    case 'huggingFace': {
      const { repo, file, revision } = gguf.source.value;
      return `${repo}/${file}${revision ? `@${revision}` : ''}`;
    }
    default:
      return 'no source';
  }
}
