import type { LayerTable, ModelInspection, TensorFacts } from '../../../gen/stageplane/v1/model.js';
import { formatBytes } from '../../core/format-bytes.js';
import { escapeControls } from './escape.js';
import { renderFields, renderTable } from './table.js';

/** A model as its header describes it: facts, bytes by group, and bytes by layer. Tensors too when they are filled in. */
export function inspectionView(inspection: ModelInspection): string {
  const { layers, tensors } = inspection;
  return [
    renderFields(modelFields(inspection)),
    ...(layers ? [groupTable(layers), layerRows(layers)] : []),
    ...(tensors.length > 0 ? [tensorRows(tensors)] : []),
  ].join('\n\n');
}

function modelFields(inspection: ModelInspection): (readonly [string, string])[] {
  const { facts, architecture, ggufVersion, fileBytes, shardCount, headCounts, headCountsKv } = inspection;
  const heads =
    headCounts.length > 0 ? `${counts(headCounts)}, ${counts(headCountsKv)} for keys and values` : 'unknown';
  return [
    ['model', escapeControls(facts?.modelId ?? '')],
    ['architecture', escapeControls(architecture)],
    ['file', `GGUF ${ggufVersion}, ${formatBytes(fileBytes)} in ${shardCount} ${shardCount === 1 ? 'file' : 'shards'}`],
    ['layers', `${facts?.numLayers ?? 0} of width ${facts?.hiddenDim ?? 0n}`],
    ['heads', heads],
    ['context', inspection.contextLength > 0n ? `${inspection.contextLength} tokens` : 'unknown'],
    ['vocabulary', inspection.vocabularySize > 0n ? `${inspection.vocabularySize} tokens` : 'unknown'],
    ['digest', inspection.digest],
  ];
}

/** One number when all layers agree, the span otherwise. */
function counts(perLayer: readonly bigint[]): string {
  const least = Math.min(...perLayer.map(Number));
  const most = Math.max(...perLayer.map(Number));
  return least === most ? String(least) : `${least} to ${most}`;
}

function groupTable(layers: LayerTable): string {
  const inLayers = layers.layers.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0n);
  const groups: [string, bigint, string][] = [
    ['layers', inLayers, 'each on the one stage that has the layer'],
    [
      'embedding',
      layers.embeddingBytes,
      layers.tied ? 'on the first stage, and as the head on the last' : 'on the first stage',
    ],
    ['head', layers.headBytes, 'on the last stage'],
    ['global', layers.globalBytes, 'on every stage'],
    ['next-token prediction', layers.nextTokenPredictionBytes, 'not loaded'],
    ['total', layers.totalBytes, ''],
  ];
  const rows = groups.map(([name, bytes, where]) => [name, formatBytes(bytes), where]);
  return renderTable([{ head: 'GROUP' }, { head: 'BYTES', align: 'right' }, { head: 'WHERE' }], rows);
}

function layerRows({ layers }: LayerTable): string {
  const columns = [
    { head: 'LAYER', align: 'right' },
    { head: 'BYTES', align: 'right' },
    { head: 'TENSORS', align: 'right' },
    { head: 'TYPES' },
  ] as const;
  const rows = layers.map(({ index, sizeBytes, tensorCount, tensorTypes }) => [
    String(index),
    formatBytes(sizeBytes),
    String(tensorCount),
    escapeControls(tensorTypes.join(', ')),
  ]);
  return renderTable(columns, rows);
}

function tensorRows(tensors: readonly TensorFacts[]): string {
  const columns = [
    { head: 'TENSOR' },
    { head: 'TYPE' },
    { head: 'EXTENTS' },
    { head: 'BYTES', align: 'right' },
  ] as const;
  const rows = tensors.map(({ name, type, dims, sizeBytes }) => [
    escapeControls(name),
    escapeControls(type),
    dims.join(' x '),
    formatBytes(sizeBytes),
  ]);
  return renderTable(columns, rows);
}
