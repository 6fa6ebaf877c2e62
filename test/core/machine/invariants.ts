import { RunMode } from '../../../gen/stageplane/v1/planner.js';
import { RunPhase } from '../../../gen/stageplane/v1/run.js';
import type { Draft } from '../../../src/core/machine/draft.js';
import { awaitsRestart } from '../../../src/core/machine/restart-policy.js';
import { runPhases } from '../../../src/core/machine/run-transitions.js';
import { stageRank } from '../../../src/core/machine/stage-transitions.js';
import type { RunState, World } from '../../../src/core/machine/state.js';

/** What must be true of every world between two turns (src/core/README.md). Throws with the invariant's number. */
export function assertInvariants(world: World): void {
  for (const run of world.runs.values()) {
    const ending = run.phase === 'TEARING_DOWN' || run.phase === 'DONE';
    const again = awaitsRestart(run);
    check(
      'I1',
      (run.outcome !== undefined) === (ending && !again),
      `run ${run.runId} is ${run.phase} with outcome ${run.outcome}`,
    );
    check('I1', !again || run.restart?.basis !== undefined, `run ${run.runId} is to begin again from nothing`);
    check('I1', run.outcome === undefined || !run.restart?.basis, `run ${run.runId} is over and may begin again`);
    check(
      'I1',
      (run.outcome === 'FAULTED' || again) === (run.cause !== undefined),
      `run ${run.runId} has a cause without a fault`,
    );
    for (const { stage, generation } of run.remnants) {
      check('I3', stage.phase === 'LOST', `run ${run.runId} has a remnant that is ${stage.phase}`);
      check('I3', generation < run.generation, `run ${run.runId} has a remnant of its own generation`);
    }
    const unready = run.stages.find((stage) => stage.phase !== 'READY');
    check(
      'I8',
      run.phase !== 'RUNNING' || !unready,
      `run ${run.runId} is RUNNING with stage ${unready?.index} ${unready?.phase}`,
    );
    const live = run.phase !== 'TEARING_DOWN' && run.phase !== 'DONE';
    check(
      'I11',
      live === (run.volatile.endpoint !== undefined),
      `run ${run.runId} is ${run.phase} with its token endpoint ${run.volatile.endpoint}`,
    );
    const isDrained = run.stages.some(({ nodeId }) => world.nodes.get(nodeId)?.drainUntil !== undefined);
    check('I17', !run.volatile.moving || isDrained, `run ${run.runId} takes no prompts, and has nowhere to move from`);
    const unsettled = run.stages.find((stage) => stage.phase !== 'STOPPED' && stage.phase !== 'LOST');
    check(
      'I17',
      run.phase !== 'DONE' || !unsettled,
      `run ${run.runId} is DONE with stage ${unsettled?.index} ${unsettled?.phase}`,
    );
    check(
      'I17',
      run.phase !== 'DONE' || run.cause?.fixed !== false,
      `run ${run.runId} is DONE and its cause may change`,
    );
    for (const stage of run.stages) {
      const listed = world.placements.get(stage.nodeId)?.has(run.runId) ?? false;
      const expected = [...run.stages, ...run.remnants.map((remnant) => remnant.stage)].some(
        (other) => other.nodeId === stage.nodeId && other.phase !== 'STOPPED',
      );
      check('I11', listed === expected, `node ${stage.nodeId} ${listed ? 'lists' : 'forgets'} run ${run.runId}`);
    }
  }
  for (const [id, contact] of world.contacts) {
    const session = contact.session === undefined ? undefined : world.sessions.get(contact.session);
    check(
      'I6',
      contact.session === undefined || session?.nodeId === id,
      `node ${id} names a session that is not its own`,
    );
    check(
      'I20',
      contact.session !== undefined || contact.lost || contact.graceEndsAt !== undefined,
      `node ${id} waits for ever`,
    );
  }
}

/** What must be true from one turn to the next. */
export class Watchdog {
  private runs = new Map<bigint, RunState>();
  private revision = 0n;

  observe(world: World, turn: Draft): void {
    for (const event of turn.events) {
      check('I12', event.revision > this.revision, `revision ${event.revision} follows ${this.revision}`);
      this.revision = event.revision;
    }
    for (const run of world.runs.values()) {
      this.compare(this.runs.get(run.runId), run);
      checkEndpoint(this.runs.get(run.runId), run, turn);
    }
    this.runs = new Map(world.runs);
  }

  /** A restart forgets what is volatile and nothing else; a commit whose answer was lost may have brought more. */
  restarted(world: World): void {
    for (const run of world.runs.values()) this.compare(this.runs.get(run.runId), run);
    this.runs = new Map(world.runs);
  }

  private compare(before: RunState | undefined, after: RunState): void {
    check('I2', !before || after.generation >= before.generation, `run ${after.runId} fell back a generation`);
    if (!before || before.generation !== after.generation) return;
    const fell = runPhases.indexOf(after.phase) < runPhases.indexOf(before.phase);
    check('I2', !fell, `run ${after.runId} fell from ${before.phase} to ${after.phase}`);
    check(
      'I1',
      before.outcome === undefined || before.outcome === after.outcome,
      `run ${after.runId} changed its outcome`,
    );
    const dropped = after.outcome === 'STOPPED' && after.restart?.lastCause !== undefined;
    const changed = before.cause?.fixed && !dropped && before.cause.revision !== after.cause?.revision;
    check('I1', !changed, `run ${after.runId} changed its cause`);
    for (const stage of after.stages) {
      const was = before.stages[stage.index]!;
      check(
        'I2',
        stageRank(stage.phase) >= stageRank(was.phase),
        `stage ${stage.index} fell from ${was.phase} to ${stage.phase}`,
      );
    }
  }
}

/** What a turn did to a run's token endpoint: opened once, closed once, and asked once, at the barrier, for an answer. */
function checkEndpoint(before: RunState | undefined, after: RunState, turn: Draft): void {
  const count = (kind: string) =>
    turn.effects.filter((effect) => effect.kind === kind && 'runId' in effect && effect.runId === after.runId).length;
  const isLive = (run: RunState | undefined) =>
    run !== undefined && run.phase !== 'TEARING_DOWN' && run.phase !== 'DONE';
  // It may have gone on from there in the same turn.
  const entered = (phase: RunPhase) =>
    turn.events.filter(
      ({ runId, detail }) => runId === after.runId && detail?.$case === 'runPhase' && detail.value.phase === phase,
    ).length;
  const went = entered(RunPhase.RUN_PHASE_RUNNING) > 0;
  const begun = entered(RunPhase.RUN_PHASE_PROVISIONING);
  check(
    'I8',
    !went || after.phase !== 'RUNNING' || after.volatile.endpoint === 'ready',
    `run ${after.runId} went live without a token endpoint`,
  );
  const asked = went && after.mode === RunMode.RUN_MODE_ONE_SHOT ? 1 : 0;
  check('I8', count('begin-answer') === asked, `run ${after.runId} was asked ${count('begin-answer')} times`);
  const reopened = isLive(after) && before?.volatile.endpoint === undefined ? 1 : 0;
  const opened = begun || reopened;
  check('I18', count('open-token-endpoint') === opened, `run ${after.runId} opened no endpoint, or two`);
  const closed = Number(isLive(before)) + begun - Number(isLive(after));
  check('I18', count('close-token-endpoint') === closed, `run ${after.runId} closed no endpoint, or two`);
}

function check(invariant: string, holds: boolean, what: string): void {
  if (!holds) throw new Error(`${invariant} is broken: ${what}`);
}
