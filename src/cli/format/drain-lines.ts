import type { DrainNodeResponse } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { escapeControls } from './escape.js';

/** How far a node is drained: a line for the node, and one for each run that it waits for. */
export function drainLines({ node, stagesLeft }: DrainNodeResponse): string[] {
  const name = escapeControls(node?.name ?? '');
  if (stagesLeft === 0) return [`${name} is drained: no stage is left, and none comes until it is uncordoned`];
  const count = (stages: number) => `${stages} ${stages === 1 ? 'stage' : 'stages'}`;
  const runs = node?.drain?.runs ?? [];
  const until = node?.drain?.deadline ? `, until ${node.drain.deadline.toISOString()}` : '';
  return [
    `${name} has ${count(stagesLeft)} left${until}`,
    ...runs.map(({ runId, stages, waits }) => `  run ${runId}, ${count(stages)}: ${escapeControls(waits)}`),
  ];
}
