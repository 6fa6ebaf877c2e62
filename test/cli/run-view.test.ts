import { describe, expect, it } from 'vitest';
import { WatchRunResponse } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunOutcome, RunPhase, StagePhase } from '../../gen/stageplane/v1/run.js';
import { runFrame } from '../../src/cli/format/run-frame.js';
import { eventLine, loadingLine } from '../../src/cli/format/run-line.js';
import { advanceRun, isFaulted, isOver, runViewOf, unplayed } from '../../src/cli/run-view.js';
import {
  exceededUpdate,
  generationEvent,
  loadUpdate,
  phaseUpdate,
  sampleCause,
  sampleRun,
  stageUpdate,
} from './sample.js';

const updates = [
  phaseUpdate(11n, RunPhase.RUN_PHASE_WAITING_READY),
  stageUpdate(12n, 0, StagePhase.STAGE_PHASE_LOADING),
  loadUpdate(0, 512n, 2048n),
  stageUpdate(13n, 1, StagePhase.STAGE_PHASE_READY),
];
const exceeded = exceededUpdate(14n, 1, 1n << 30n, (13n << 30n) / 10n);
const nextGeneration = WatchRunResponse.fromPartial({
  update: generationEvent(30n, [{ nodeName: 'gamma', nodeId: 4n, phase: 1, layerStart: 0, layerEndExclusive: 8 }]),
});
const loading = updates.reduce(advanceRun, runViewOf(sampleRun));

describe('a watched run', () => {
  it('follows its events and loading progress', () => {
    expect(runFrame(loading).split('\n')).toEqual([
      'run 7  WAITING_READY  fidelity same-kernels',
      `  stage 0  alpha  [0, 3)  LOADING   ${'█'.repeat(6)}${'·'.repeat(18)}  512 B of 2.0 KiB`,
      '  stage 1  beta   [3, 8)  READY',
    ]);
  });

  it('ends with its outcome and cause', () => {
    const update = phaseUpdate(20n, RunPhase.RUN_PHASE_DONE, RunOutcome.RUN_OUTCOME_FAULTED, sampleCause);
    const view = advanceRun(loading, update);
    expect([isOver(view), isFaulted(view)]).toEqual([true, true]);
    const frame = runFrame(view);
    expect(frame).toMatch(/^run 7 {2}DONE {2}FAULTED {2}fidelity same-kernels\n/);
    expect(frame).toContain('stage 1 on beta, worker: WORKER_EXITED: the worker ended by itself with code 9');
  });

  it('forgets the last attempt when a new generation begins', () => {
    const next = phaseUpdate(30n, RunPhase.RUN_PHASE_PROVISIONING);
    if (next.update?.$case === 'event') next.update.value.generation = 2;
    const view = advanceRun({ ...loading, cause: sampleCause }, next);
    expect(view.cause).toBeUndefined();
    expect(view.stages.map(({ phase }) => phase)).toEqual([
      StagePhase.STAGE_PHASE_PENDING,
      StagePhase.STAGE_PHASE_PENDING,
    ]);
  });

  it('says of a ready stage that it holds more than was reserved, until the next attempt', () => {
    const view = [exceeded, stageUpdate(15n, 0, StagePhase.STAGE_PHASE_READY)].reduce(advanceRun, loading);
    expect(runFrame(view)).toContain(
      '  stage 1  beta   [3, 8)  READY     holds 1.3 GiB, more than the 1.0 GiB that the plan reserved',
    );
    expect(runFrame(view).match(/reserved/g)).toHaveLength(1);
    const next = phaseUpdate(30n, RunPhase.RUN_PHASE_PROVISIONING);
    if (next.update?.$case === 'event') next.update.value.generation = 2;
    expect(advanceRun(view, next).stages[1]?.exceeded).toBeUndefined();
  });

  it('shows where a new generation is, and hears no more of the stages of the last one', () => {
    const view = [nextGeneration, stageUpdate(31n, 0, StagePhase.STAGE_PHASE_STOPPED)].reduce(advanceRun, loading);
    expect(runFrame(view).split('\n')).toEqual([
      'run 7  PROVISIONING  generation 2  fidelity same-kernels',
      '  stage 0  gamma  [0, 8)  PENDING',
    ]);
  });

  it('is not over before its history has been told', () => {
    const done = { ...runViewOf(sampleRun), phase: RunPhase.RUN_PHASE_DONE, outcome: RunOutcome.RUN_OUTCOME_STOPPED };
    expect(isOver(unplayed(done))).toBe(false);
  });
});

describe('lines of a run', () => {
  const line = (update: ReturnType<typeof stageUpdate>) =>
    update.update?.$case === 'event' ? eventLine(loading, update.update.value) : '';

  it('say that a run begins again, where, and why it cannot', () => {
    expect(line(phaseUpdate(20n, RunPhase.RUN_PHASE_TEARING_DOWN, 0, sampleCause))).toMatch(
      /TEARING_DOWN, then it begins again {2}stage 1 on beta, worker: WORKER_EXITED/,
    );
    expect(line(nextGeneration)).toBe('03:04:05  run 7  PROVISIONING  generation 2 on gamma');
    const view = advanceRun(loading, nextGeneration);
    const late = stageUpdate(31n, 0, StagePhase.STAGE_PHASE_STOPPED);
    expect(late.update?.$case === 'event' && eventLine(view, late.update.value)).toBe(
      '03:04:05  run 7  stage 0 on gamma of generation 1  STOPPED',
    );
    const refused = { kind: 1, message: 'no node fits', attemptsLeft: 2 };
    const detail = { $case: 'restartRefused' as const, value: refused };
    const event = { revision: 32n, runId: 7n, generation: 1, at: new Date('2026-03-04T03:04:05Z'), detail };
    expect(eventLine(loading, event)).toBe('03:04:05  run 7  cannot begin again: no node fits; 2 more attempts');
    expect(eventLine(loading, { ...event, detail: { ...detail, value: { ...refused, attemptsLeft: 0 } } })).toMatch(
      /; no attempt is left$/,
    );
  });

  it('say when, what and where', () => {
    expect(line(stageUpdate(14n, 1, StagePhase.STAGE_PHASE_READY))).toBe('03:04:05  run 7  stage 1 on beta  READY');
    expect(line(phaseUpdate(15n, RunPhase.RUN_PHASE_TEARING_DOWN, RunOutcome.RUN_OUTCOME_STOPPED))).toBe(
      '03:04:05  run 7  TEARING_DOWN  STOPPED',
    );
    expect(loadingLine(loading, 0)).toBe('stage 0 on alpha  loaded 512 B of 2.0 KiB');
    expect(line(exceeded)).toBe(
      '03:04:05  run 7  stage 1 on beta  holds 1.3 GiB, more than the 1.0 GiB that the plan reserved; ' +
        'nothing to do now: the next plan of such a stage reserves more',
    );
  });

  it('cannot be forged by a fault message', () => {
    const cause = { ...sampleCause, message: 'x\n03:04:06  run 7  DONE  COMPLETED\u001b[2J' };
    const text = line(phaseUpdate(16n, RunPhase.RUN_PHASE_TEARING_DOWN, RunOutcome.RUN_OUTCOME_FAULTED, cause));
    expect(text).not.toContain('\n');
    expect(text).not.toContain('\u001b');
  });
});
