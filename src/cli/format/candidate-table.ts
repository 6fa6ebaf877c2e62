import type { Node } from '../../../gen/stageplane/v1/node.js';
import type { PlanCandidate } from '../../../gen/stageplane/v1/planner.js';
import { deviceLoads, fullness } from './device-load.js';
import { escapeControls } from './escape.js';
import { speedText } from './estimate.js';
import { label } from './labels.js';
import { shortened } from './node-title.js';
import { notedTable } from './noted-table.js';
import type { Column } from './table.js';
import { wrapText } from './wrap-text.js';

const columns: readonly Column[] = [
  { head: 'CANDIDATE' },
  { head: 'STAGES', align: 'right' },
  { head: 'TOKENS/S', align: 'right' },
  { head: 'FULLEST DEVICE' },
  { head: 'STATUS' },
];

const NAME_COLUMNS = 36;
const NODE_COLUMNS = 12;

/** Every placement that was looked at, each with the first reason why it was not taken below it. */
export function candidateTable(candidates: readonly PlanCandidate[], nodes: readonly Node[], deviceId: string): string {
  const rows = candidates.map((candidate) => [
    shortened(escapeControls(candidate.name), NAME_COLUMNS),
    candidate.stageCount > 0 ? String(candidate.stageCount) : '-',
    speedText(candidate.tokensPerSecond),
    fullestDevice(candidate, nodes, deviceId),
    label.candidateStatus(candidate.status),
  ]);
  const notes = candidates.map(({ reasons }) => firstReason(reasons));
  return [notedTable(columns, rows, notes), ...footnotes(candidates)].join('\n');
}

function fullestDevice({ memory }: PlanCandidate, nodes: readonly Node[], deviceId: string): string {
  const loads = deviceLoads(memory, nodes, () => deviceId);
  const [fullest] = loads.map((load) => ({ ...load, share: fullness(load) ?? -1 })).sort((a, b) => b.share - a.share);
  if (!fullest || fullest.share < 0) return '-';
  const name = nodes.find(({ nodeId }) => nodeId === fullest.nodeId)?.name ?? '';
  return `${shortened(escapeControls(name), NODE_COLUMNS)} ${Math.round(fullest.share * 100)}%`;
}

function firstReason([first, ...others]: readonly string[]): string | undefined {
  return first !== undefined && others.length > 0 ? `${first} (and ${others.length} more)` : first;
}

/** What is true of every figure alike. */
function footnotes(candidates: readonly PlanCandidate[]): string[] {
  const notes = new Set(candidates.map(({ tokensPerSecond }) => tokensPerSecond?.note ?? '').filter(Boolean));
  const isGuess = candidates.some(({ profilingRequired }) => profilingRequired);
  return [
    ...[...notes].map((note) => wrapText(`TOKENS/S: ${escapeControls(note)}`, 0)),
    ...(isGuess ? ['Speeds are guesses where the nodes have not been profiled.'] : []),
  ];
}
