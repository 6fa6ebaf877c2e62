import { Device } from '../../../gen/stageplane/v1/node.js';
import {
  candidateStatusToJSON,
  type Estimate,
  MemoryBreakdown,
  NodeExclusion,
} from '../../../gen/stageplane/v1/planner.js';
import { formatBytes } from '../../core/format-bytes.js';
import type { CandidateShare, ExplainedDevice, NodeExplanation, UsedStage } from '../explain-node.js';
import { escapeControls } from './escape.js';
import { basisWord, bytesText, sumEstimates } from './estimate.js';
import { label } from './labels.js';
import { nodeState } from './node-state.js';
import { shortened } from './node-title.js';
import { notedTable } from './noted-table.js';
import { fieldColumns, renderFields, renderTable } from './table.js';
import { wrapText } from './wrap-text.js';

const NAME_COLUMNS = 40;

/** Everything that a plan says about one node, for people. */
export function nodeExplanation(explanation: NodeExplanation): string {
  const { used, devices, candidates } = explanation;
  const parts = used.map((stage) => partTable(stage));
  return [headFields(explanation), ...parts, deviceTable(devices), candidateTable(candidates)]
    .filter(Boolean)
    .join('\n\n');
}

/** The same as JSON: messages of the wire in protobuf's mapping, bytes as strings like every other 64-bit integer. */
export function nodeExplanationDocument(explanation: NodeExplanation) {
  const { node, used, exclusion, devices, candidates, warnings, hint } = explanation;
  return {
    nodeId: String(node.nodeId),
    nodeName: node.name,
    state: nodeState(node),
    used: used.map(({ memory, ...stage }) => ({ ...stage, memory: memory && MemoryBreakdown.toJSON(memory) })),
    exclusion: exclusion && NodeExclusion.toJSON(exclusion),
    devices: devices.map(({ device, reservedBytes, usableBytes }) => ({
      ...(Device.toJSON(device) as object),
      reservedBytes: String(reservedBytes),
      usableBytes: usableBytes === undefined ? undefined : String(usableBytes),
    })),
    candidates: candidates.map(({ name, status, stages, reason }) => ({
      name,
      status: candidateStatusToJSON(status),
      reason,
      stages: stages.map((stage) => MemoryBreakdown.toJSON(stage)),
    })),
    warnings,
    hint,
  };
}

function headFields(explanation: NodeExplanation): string {
  const { node, used, exclusion, warnings, hint } = explanation;
  const fields: (readonly [string, string])[] = [['node', `${node.name} (${node.nodeId}), ${nodeState(node)}`]];
  for (const stage of used) fields.push(['used', usedText(explanation, stage)]);
  if (used.length === 0)
    fields.push(['not used', exclusion ? exclusionText(exclusion) : 'the plan says nothing of it']);
  for (const warning of warnings) fields.push(['warning', warning]);
  if (hint !== undefined) fields.push(['hint', hint]);
  const indent = fieldColumns(fields.map(([name]) => name));
  return renderFields(fields.map(([name, value]) => [name, wrapText(escapeControls(value), indent)]));
}

function usedText({ devices }: NodeExplanation, stage: UsedStage): string {
  const { stageIndex, layerStart, layerEndExclusive, deviceId, memory } = stage;
  const where = `stage ${stageIndex} with layers [${layerStart}, ${layerEndExclusive}) on ${deviceId || 'its device'}`;
  const on = devices.find(({ device }) => device.deviceId === deviceId);
  return memory?.total ? `${where}, ${shareText(memory.total, on)}` : `${where}; its memory was not planned with`;
}

/** How much of a device that is. */
function shareText(total: Estimate, on: ExplainedDevice | undefined): string {
  const bytes = bytesText(total);
  if (!on || on.device.totalBytes === 0n) return `${bytes} of a device of unknown size`;
  const { device, usableBytes = 0 } = on;
  const whole = `${percent(total.value, Number(device.totalBytes))} of its ${formatBytes(device.totalBytes)}`;
  return usableBytes > 0
    ? `${bytes}: ${percent(total.value, usableBytes)} of the ${formatBytes(usableBytes)} that a plan may use, ${whole}`
    : `${bytes}: ${whole}`;
}

function percent(part: number, whole: number): string {
  return `${Math.round((100 * part) / whole)}%`;
}

function exclusionText({ reason, message }: NodeExclusion): string {
  return message ? `${reason}: ${message}` : reason;
}

/** Part by part, save those that take nothing, each with where its figure comes from and, below it, what is worth knowing of it. */
function partTable({ stageIndex, memory }: UsedStage): string {
  if (!memory) return '';
  const parts = partsOf(memory).flatMap(([name, estimate]) => (estimate?.value ? [{ name, estimate }] : []));
  const rows = parts.map(({ name, estimate }) => [name, bytesText(estimate), basisWord(estimate)]);
  const columns = [
    { head: `STAGE ${stageIndex} TAKES` },
    { head: 'BYTES', align: 'right' },
    { head: 'HOW KNOWN' },
  ] as const;
  return notedTable(
    columns,
    rows,
    parts.map(({ estimate }) => estimate.note),
  );
}

function partsOf(memory: MemoryBreakdown): (readonly [name: string, estimate: Estimate | undefined])[] {
  return [
    ['weights', memory.weights],
    ['KV cache', memory.kvCache],
    ['state', memory.state],
    ['compute', memory.compute],
    ['embedding', memory.embedding],
    ['head', memory.head],
    ['rings', memory.rings],
    ['overhead', memory.overhead],
    ['total', memory.total],
    ['ordinary memory', memory.hostBytes],
  ];
}

function deviceTable(devices: readonly ExplainedDevice[]): string {
  if (devices.length === 0) return '';
  const rows = devices.map(({ device, reservedBytes, usableBytes }) => {
    const { deviceId, kind, totalBytes, freeBytes } = device;
    const known = (bytes: bigint | number) => (totalBytes > 0n ? formatBytes(bytes) : 'unknown');
    return [
      shortened(escapeControls(deviceId), NAME_COLUMNS),
      label.device(kind),
      known(totalBytes),
      known(freeBytes),
      formatBytes(reservedBytes),
      known(Math.max(0, usableBytes ?? 0)),
    ];
  });
  const columns = [
    { head: 'DEVICE' },
    { head: 'KIND' },
    { head: 'TOTAL', align: 'right' },
    { head: 'FREE', align: 'right' },
    { head: 'RESERVED', align: 'right' },
    { head: 'USABLE', align: 'right' },
  ] as const;
  return renderTable(columns, rows);
}

function candidateTable(candidates: readonly CandidateShare[]): string {
  if (candidates.length === 0) return '';
  const rows = candidates.map(({ name, status, stages }) => [
    shortened(escapeControls(name), NAME_COLUMNS),
    label.candidateStatus(status),
    stages.map(({ stageIndex }) => stageIndex).join(', ') || '-',
    bytesText(sumEstimates(stages.map(({ total }) => total))),
  ]);
  const columns = [
    { head: 'CANDIDATE' },
    { head: 'STATUS' },
    { head: 'STAGE HERE' },
    { head: 'BYTES HERE', align: 'right' },
  ] as const;
  return notedTable(
    columns,
    rows,
    candidates.map(({ reason }) => reason),
  );
}
