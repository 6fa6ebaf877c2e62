import { StageFaultReason, StagePhase } from '../../gen/stageplane/v1/run.js';
import { runId } from '../../src/core/ids.js';
import type { Draft } from '../../src/core/machine/draft.js';
import { ignoredInAll } from '../../src/core/machine/ignored-messages.js';
import type { RunState, World } from '../../src/core/machine/state.js';
import type { Simulation } from './simulation.js';

/** Counts what a turn came to. @param lastRuns as the turn before left them */
export function countTurn(sim: Simulation, world: World, turn: Draft, lastRuns: ReadonlyMap<bigint, RunState>): void {
  if (ignoredInAll(turn.ignored) > 0) sim.hit('stale message ignored');
  for (const effect of turn.effects) {
    if (effect.kind === 'say' && effect.message.includes('grace is extended')) sim.hit('mass loss extended the grace');
    if (effect.kind === 'await-quiet') sim.hit('move waited for answers');
    if (effect.kind === 'close-session') sim.hit(`session refused ${effect.why.reason}`);
  }
  for (const { runId: id, detail } of turn.events) {
    if (detail?.$case === 'restartRefused') sim.hit('restart refused');
    if (detail?.$case === 'reservationExceeded') sim.hit('reservation exceeded');
    if (detail?.$case === 'stagePhase') sim.hit(`stage ${StagePhase[detail.value.phase].replace('STAGE_PHASE_', '')}`);
    const run = world.runs.get(runId(id));
    if (!run) continue;
    sim.hit(`run ${run.phase}`);
    if (run.outcome) sim.hit(`run ${run.outcome}`);
    if (run.cause) sim.hit(`cause ${StageFaultReason[run.cause.fault.reason].replace('STAGE_FAULT_REASON_', '')}`);
    for (const { phase, nodeId, index } of run.stages) {
      if (phase === 'PENDING') sim.hit('stage PENDING');
      const was = lastRuns.get(run.runId)?.stages[index]?.phase;
      if (was === 'LOST' && phase === 'STOPPED' && world.contacts.get(nodeId)?.lost) sim.hit('fenced');
    }
  }
  for (const [id] of turn.answers)
    if (world.runs.get(id)?.outcome !== 'COMPLETED') sim.hit('answer kept of a broken run');
}

/** Tells what a turn committed, said and answered. */
export function tellTurn(sim: Simulation, turn: Draft): void {
  for (const { runId: id, detail } of turn.events) {
    sim.trace(() => {
      const value = JSON.stringify(detail?.value, (_key, inner) => (typeof inner === 'bigint' ? String(inner) : inner));
      return `r${turn.cluster.revision} run ${id} ${detail?.$case} ${value.slice(0, 200)}`;
    });
  }
  for (const effect of turn.effects) {
    if (effect.kind === 'say') sim.trace(() => `says ${effect.message}`);
    if (effect.kind === 'close-session') sim.trace(() => `closes ${effect.session}: ${effect.why.reason}`);
    if (effect.kind === 'answer') sim.trace(() => `answers ${effect.answer.kind}`);
  }
}
