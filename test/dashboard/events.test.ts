import { expect, test } from 'vitest';
import { RunEvent, RunOutcome, RunPhase, StageFaultReason, StagePhase } from '../../gen/stageplane/v1/run.js';
import { isShown } from '../../src/dashboard/events/event-filter.js';
import { EVENTS_KEPT, type EventView, eventView, withEvent } from '../../src/dashboard/events/event-view.js';

const stageReady = (revision: bigint, runId = 1n) =>
  RunEvent.fromPartial({
    revision,
    runId,
    generation: 1,
    detail: { $case: 'stagePhase', value: { stageIndex: 1, nodeId: 2n, phase: StagePhase.STAGE_PHASE_READY } },
  });
const fault = RunEvent.fromPartial({
  revision: 9n,
  runId: 12n,
  detail: {
    $case: 'fault',
    value: {
      stageIndex: 0,
      fault: { reason: StageFaultReason.STAGE_FAULT_REASON_WORKER_EXITED, message: 'it ended\u001b[2J', logTail: [] },
    },
  },
});
const runDone = RunEvent.fromPartial({
  revision: 10n,
  runId: 1n,
  detail: {
    $case: 'runPhase',
    value: { phase: RunPhase.RUN_PHASE_DONE, outcome: RunOutcome.RUN_OUTCOME_STOPPED, cause: undefined, stages: [] },
  },
});

test('events are in words, with what strangers said made harmless', () => {
  expect(eventView(stageReady(3n))).toMatchObject({
    subject: 'stage 1',
    state: { tone: 'good', word: 'ready' },
    text: '',
  });
  expect(eventView(fault)).toMatchObject({
    subject: 'stage 0',
    state: { tone: 'bad' },
    text: 'WORKER_EXITED: it ended\\x1b[2J',
  });
  expect(eventView(runDone)).toMatchObject({ subject: 'run', state: { tone: 'over', word: 'stopped' } });
});

test('what comes again after a broken stream is shown once, newest first, and no more than a page can hold', () => {
  const revisions = (events: readonly EventView[]) => events.map(({ revision }) => revision);
  const told = [3n, 5n, 6n, 5n, 6n, 8n].map((revision) => RunEvent.toJSON(stageReady(revision)));
  const shown = told.reduce<readonly EventView[]>((events, json) => withEvent(events, json), []);
  expect(revisions(shown)).toEqual([8n, 6n, 5n, 3n]);
  let many: readonly EventView[] = [];
  for (let at = 1n; at <= BigInt(EVENTS_KEPT) + 5n; at++) many = withEvent(many, RunEvent.toJSON(stageReady(at)));
  expect([many.length, many[0]?.revision]).toEqual([EVENTS_KEPT, BigInt(EVENTS_KEPT) + 5n]);
});

test('a filter takes words in any order, one run by its number, and kinds', () => {
  const events = [stageReady(3n, 1n), stageReady(4n, 12n), fault, runDone].map(eventView);
  const found = (text: string, kind: 'all' | 'runs' | 'faults' = 'all') =>
    events.filter((event) => isShown(event, { text, kind })).map(({ revision }) => revision);
  expect(found('')).toEqual([3n, 4n, 9n, 10n]);
  expect(found('run 1')).toEqual([3n, 10n]);
  expect(found('EXITED run 12')).toEqual([9n]);
  expect(found('ready 12')).toEqual([4n]);
  expect([found('', 'runs'), found('', 'faults')]).toEqual([[10n], [9n]]);
});
