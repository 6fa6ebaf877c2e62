import { expect, it } from 'vitest';
import { DrainNodeResponse } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { drainLines } from '../../../src/cli/format/drain-lines.js';

it('a drain is told run by run, and in one line when it is over', () => {
  const node = {
    name: 'alpha',
    drain: {
      deadline: new Date('2026-03-04T03:04:05Z'),
      runs: [{ runId: 7n, stages: 2, waits: 'goes on until its prompt is answered' }],
    },
  };
  expect(drainLines(DrainNodeResponse.fromPartial({ stagesLeft: 2, node }))).toEqual([
    'alpha has 2 stages left, until 2026-03-04T03:04:05.000Z',
    '  run 7, 2 stages: goes on until its prompt is answered',
  ]);
  expect(drainLines(DrainNodeResponse.fromPartial({ stagesLeft: 0, node }))).toEqual([
    'alpha is drained: no stage is left, and none comes until it is uncordoned',
  ]);
});
