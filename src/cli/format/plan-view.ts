import type { GgufSource } from '../../../gen/stageplane/v1/model.js';
import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import type { PlanReport } from '../../../gen/stageplane/v1/planner.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { formatBytes } from '../../core/format-bytes.js';
import { escapeControls } from './escape.js';
import { exclusionLine } from './exclusion-line.js';
import { label } from './labels.js';
import { layerBar } from './layer-bar.js';
import { renderFields, renderTable } from './table.js';

export interface PlanPicture {
  readonly plan: RunPlan;
  /** In stage order. */
  readonly settings: readonly StageSettings[];
  readonly report: PlanReport | undefined;
  /** Name of each node, by id; not escaped. */
  readonly names: ReadonlyMap<bigint, string>;
}

const BAR_CELLS = 32;

/** A plan as a picture: which node gets which layers and bytes, and what is worth knowing about it. */
export function planView({ plan, settings, report, names }: PlanPicture): string {
  const layers = plan.model?.numLayers ?? 0;
  const rows = plan.stages.map(({ stageIndex, nodeId, layerStart, layerEndExclusive }) => [
    String(stageIndex),
    `${escapeControls(names.get(nodeId) ?? 'node')} (${nodeId})`,
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
  return [renderFields(planFields(plan, settings, report)), renderTable(columns, rows), ...noteLines(report)].join(
    '\n\n',
  );
}

function planFields(plan: RunPlan, settings: readonly StageSettings[], report: PlanReport | undefined) {
  const { modelId = '', numLayers = 0, hiddenDim = 0, ggufSource } = plan.model ?? {};
  const [first] = settings;
  const fields: (readonly [string, string])[] = [
    ['model', escapeControls(`${modelId}, ${numLayers} layers of width ${hiddenDim}, ${sourceText(ggufSource)}`)],
  ];
  if (first) {
    const { engine, contextLength, device } = first;
    fields.push(['engine', escapeControls(`${engine} on ${device}, ${contextLength} tokens of context`)]);
    fields.push(['settings', settingsText(first)]);
  }
  fields.push(...samplingFields(plan));
  if (report?.fidelity) fields.push(['fidelity', escapeControls(report.fidelity)]);
  if (report?.selected) fields.push(['plan id', escapeControls(report.selected.planId)]);
  return fields;
}

/** What all stages share; threads may differ, and have a column. */
function settingsText({ microBatch, sessions, kvCacheType, flashAttention, seed }: StageSettings): string {
  const flash = flashAttention ? 'on' : 'off';
  const counts = `micro-batch ${microBatch}, sessions ${sessions}`;
  return `${counts}, KV cache ${label.kvCacheType(kvCacheType)}, flash attention ${flash}, seed ${seed}`;
}

/** Greedy is what nobody asked for, and needs no words. */
function samplingFields({ runtime }: RunPlan): (readonly [string, string])[] {
  const { temperatureMillis = 0, topK = 0 } = runtime?.sampling ?? {};
  if (temperatureMillis === 0 && topK === 0) return [];
  return [['sampling', `temperature ${temperatureMillis / 1000}, ${topK === 0 ? 'all tokens' : `top ${topK}`}`]];
}

/** Warnings and exclusions, as one block; nothing when there are none. */
function noteLines(report: PlanReport | undefined): string[] {
  const warnings = (report?.warnings ?? []).map((warning) => `warning: ${escapeControls(warning)}`);
  const lines = [...warnings, ...(report?.exclusions ?? []).map(exclusionLine)];
  return lines.length > 0 ? [lines.join('\n')] : [];
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
