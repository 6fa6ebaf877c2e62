import { RunPhase } from '../../../gen/stageplane/v1/run.js';
import { version } from '../../version.js';
import { formatAge } from '../format/duration.js';
import { escapeControls } from '../format/escape.js';
import { label } from '../format/labels.js';
import { nodeState } from '../format/node-state.js';
import type { TopConnection, TopState } from './top-state.js';

const shownPhases = [
  RunPhase.RUN_PHASE_PROVISIONING,
  RunPhase.RUN_PHASE_WAITING_READY,
  RunPhase.RUN_PHASE_RUNNING,
  RunPhase.RUN_PHASE_TEARING_DOWN,
  RunPhase.RUN_PHASE_DONE,
];

/** Where it looks, and whether anybody answers there. */
export function titleLine(address: string, { connection, revision }: TopState, now: Date): string {
  return `stageplane ${version}  ${address}  revision ${revision}  ${connectionText(connection, now)}`;
}

export function connectionText(connection: TopConnection, now: Date): string {
  if (connection.kind !== 'lost') return connection.kind === 'connected' ? 'connected' : 'connecting ...';
  const since = connection.since.toTimeString().slice(0, 8);
  const age = formatAge(connection.since, now);
  return `connection lost, since ${since} (${age}), trying again: ${escapeControls(connection.why)}`;
}

/** How many there are of everything. */
export function countLine({ nodes, runs }: TopState): string {
  const states = new Map<string, number>();
  for (const node of nodes.values()) states.set(nodeState(node), (states.get(nodeState(node)) ?? 0) + 1);
  const phases = shownPhases.map((phase) => [phase, countOf(runs.values(), phase)] as const);
  const ofNodes = [...states].map(([state, count]) => `${count} ${state}`).join(', ');
  const ofRuns = phases.filter(([, count]) => count > 0).map(([phase, count]) => `${count} ${label.runPhase(phase)}`);
  const answering = [...runs.values()].reduce((sum, { textLoad }) => sum + (textLoad?.runningAnswers ?? 0), 0);
  const text = answering > 0 ? `  answers under way: ${answering}` : '';
  return `nodes: ${nodes.size}${ofNodes ? ` (${ofNodes})` : ''}  runs: ${ofRuns.join(', ') || 'none'}${text}`;
}

function countOf(runs: Iterable<{ readonly view: { readonly phase: RunPhase } }>, phase: RunPhase): number {
  let count = 0;
  for (const { view } of runs) if (view.phase === phase) count += 1;
  return count;
}
