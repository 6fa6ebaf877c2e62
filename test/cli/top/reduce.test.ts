import { describe, expect, it } from 'vitest';
import { Node } from '../../../gen/stageplane/v1/node.js';
import { Run, RunEvent, RunOutcome, RunPhase, RunSummary, StagePhase } from '../../../gen/stageplane/v1/run.js';
import { reduce } from '../../../src/cli/top/reduce.js';
import { nothingYet, type TopState, type TopUpdate } from '../../../src/cli/top/top-state.js';
import { limits } from '../../../src/core/limits.js';

const stateAfter = (...updates: TopUpdate[]): TopState => updates.reduce(reduce, nothingYet);
const node = (nodeId: bigint, name: string): TopUpdate => ({ kind: 'node', node: Node.fromPartial({ nodeId, name }) });
const stage = (nodeId: bigint, phase: StagePhase) => ({
  stageIndex: 0,
  nodeId,
  nodeName: 'alpha',
  phase,
  layerEndExclusive: 4,
});
const run = (runId: bigint, revision: bigint, phase = RunPhase.RUN_PHASE_PROVISIONING): TopUpdate => ({
  kind: 'run',
  run: Run.fromPartial({ runId, revision, phase, generation: 1, stages: [stage(2n, StagePhase.STAGE_PHASE_PENDING)] }),
});
const runPhase = (
  runId: bigint,
  revision: bigint,
  phase: RunPhase,
  outcome = RunOutcome.RUN_OUTCOME_UNSPECIFIED,
): TopUpdate => ({
  kind: 'event',
  event: RunEvent.fromPartial({
    runId,
    revision,
    generation: 1,
    detail: { $case: 'runPhase', value: { phase, outcome } },
  }),
});
const summary = (runId: bigint, cause = '') => RunSummary.fromPartial({ runId, cause, modelId: 'tiny' });

describe('nodes', () => {
  it('are what was last said of each; one that is removed is gone', () => {
    const state = stateAfter(node(2n, 'alpha'), node(3n, 'beta'), node(2n, 'gamma'), {
      kind: 'node-removed',
      nodeId: 3n,
    });
    expect([...state.nodes.values()].map(({ name }) => name)).toEqual(['gamma']);
  });

  it('that a new watch does not tell were deleted while nobody listened', () => {
    const state = stateAfter(node(2n, 'alpha'), node(3n, 'beta'), { kind: 'nodes-told', nodeIds: new Set([3n]) });
    expect([...state.nodes.keys()]).toEqual([3n]);
  });
});

describe('runs', () => {
  it('come newest first, and move as their events say', () => {
    const state = stateAfter(run(1n, 1n), run(3n, 5n), run(2n, 4n), runPhase(2n, 6n, RunPhase.RUN_PHASE_RUNNING));
    expect([...state.runs.keys()]).toEqual([3n, 2n, 1n]);
    expect(state.runs.get(2n)?.view.phase).toBe(RunPhase.RUN_PHASE_RUNNING);
    expect(state.revision).toBe(6n);
  });

  it('never go back: neither by an event that the run is past, nor by a run that was read before its newest event', () => {
    const ahead = stateAfter(
      run(1n, 8n, RunPhase.RUN_PHASE_RUNNING),
      runPhase(1n, 7n, RunPhase.RUN_PHASE_WAITING_READY),
    );
    expect(ahead.runs.get(1n)?.view.phase).toBe(RunPhase.RUN_PHASE_RUNNING);
    expect(ahead.events).toHaveLength(1);
    const late = stateAfter(run(1n, 1n), runPhase(1n, 7n, RunPhase.RUN_PHASE_RUNNING), run(1n, 3n));
    expect(late.runs.get(1n)?.view.phase).toBe(RunPhase.RUN_PHASE_RUNNING);
  });

  it('that the list has no more are gone, older ones only when it has all', () => {
    const known = [run(1n, 1n), run(5n, 2n), run(6n, 3n)];
    const page: TopUpdate = { kind: 'runs', summaries: [summary(6n), summary(4n)], isAll: false };
    expect([...stateAfter(...known, page).runs.keys()]).toEqual([6n, 4n, 1n]);
    expect([...stateAfter(...known, { ...page, isAll: true }).runs.keys()]).toEqual([6n, 4n]);
  });

  it('a list that says nothing new changes nothing', () => {
    const list: TopUpdate = { kind: 'runs', summaries: [summary(2n), summary(1n)], isAll: true };
    const state = stateAfter(list);
    expect(reduce(state, list)).toBe(state);
  });

  it('have a timeline once somebody asks, which goes on', () => {
    const events = [runPhase(1n, 1n, RunPhase.RUN_PHASE_PROVISIONING)].flatMap((one) =>
      one.kind === 'event' ? [one.event] : [],
    );
    const state = stateAfter(
      run(1n, 1n),
      { kind: 'timeline', runId: 1n, events },
      runPhase(1n, 2n, RunPhase.RUN_PHASE_RUNNING),
    );
    expect(state.runs.get(1n)?.timeline?.map(({ line }) => line.slice(10))).toEqual([
      'run 1  PROVISIONING',
      'run 1  RUNNING',
    ]);
  });
});

describe('events', () => {
  it('are told once, whatever a watch that goes on repeats, and are bounded', () => {
    const many = Array.from({ length: limits.topEvents + 5 }, (_, at) =>
      runPhase(1n, BigInt(at + 1), RunPhase.RUN_PHASE_RUNNING),
    );
    const state = stateAfter(...many, ...many.slice(-3));
    expect(state.events).toHaveLength(limits.topEvents);
    expect(state.events.at(-1)?.revision).toBe(BigInt(many.length));
  });
});

describe('the connection', () => {
  it('is lost since its first loss, and what was known stays', () => {
    const [at, later] = [new Date(1000), new Date(9000)];
    const lost = stateAfter(
      node(2n, 'alpha'),
      { kind: 'connected' },
      { kind: 'lost', at, why: 'a' },
      { kind: 'lost', at: later, why: 'b' },
    );
    expect(lost.connection).toEqual({ kind: 'lost', since: at, why: 'a' });
    expect(lost.nodes.size).toBe(1);
    expect(reduce(lost, { kind: 'connected' }).connection).toEqual({ kind: 'connected' });
  });

  it('to an older life of the cluster begins anew', () => {
    const state = stateAfter(node(2n, 'alpha'), run(1n, 900n), runPhase(1n, 901n, RunPhase.RUN_PHASE_DONE), {
      kind: 'begun-anew',
    });
    expect(state).toEqual(nothingYet);
  });
});
