import { RunMode } from '../../gen/stageplane/v1/planner.js';
import { stageName } from '../../src/core/machine/agent/state.js';
import type { Simulation } from './simulation.js';

/** What still has to happen once all faults have ended, with the invariant that promises it. */
export function whyUnsettled(sim: Simulation): { invariant: string; what: string } | undefined {
  const { world, isPaused } = sim.orchestrator;
  if (!world || isPaused) return { invariant: 'I17', what: 'the orchestrator is down' };
  return unsettledAgent(sim) ?? unsettledRun(sim) ?? orphan(sim);
}

function unsettledAgent(sim: Simulation) {
  for (const machine of sim.machines) {
    if (machine.isGone) continue;
    const { agent, name } = machine;
    const contact = sim.contactOf(machine);
    if (agent?.state.contact.kind !== 'joined' || contact?.session === undefined)
      return { invariant: 'I19', what: `${name} has no session` };
    const reports = agent.state.reports.size;
    if (reports > 0) return { invariant: 'I19', what: `${name} keeps ${reports} reports` };
    const unanswered = sim.orchestrator.world?.sessions.get(contact.session)?.unanswered.size ?? 0;
    if (unanswered > 0) return { invariant: 'I19', what: `${unanswered} deliveries to ${name} are unanswered` };
  }
  return undefined;
}

function unsettledRun(sim: Simulation) {
  for (const run of sim.orchestrator.world?.runs.values() ?? []) {
    const serves =
      run.mode === RunMode.RUN_MODE_SERVING && run.phase === 'RUNNING' && run.volatile.endpoint === 'ready';
    if (run.phase !== 'DONE' && !serves) return { invariant: 'I17', what: `run ${run.runId} is ${run.phase}` };
    const left = run.phase === 'DONE' && run.stages.find(({ phase }) => phase !== 'STOPPED');
    if (left) return { invariant: 'I20', what: `stage ${left.index} of run ${run.runId} is ${left.phase}` };
    const [remnant] = run.remnants;
    if (remnant)
      return {
        invariant: 'I20',
        what: `stage ${remnant.stage.index} of run ${run.runId} g${remnant.generation} is LOST`,
      };
    const endpoint = sim.orchestrator.endpoints?.running.has(run.runId) ?? false;
    if (endpoint !== serves)
      return { invariant: 'I18', what: `run ${run.runId} ${endpoint ? 'has' : 'lacks'} an endpoint` };
  }
  return undefined;
}

/** A worker that no run needs, or a run that lives without one. */
function orphan(sim: Simulation) {
  const needed = new Set<string>();
  for (const { runId, generation, phase, stages } of sim.orchestrator.world?.runs.values() ?? []) {
    if (phase === 'RUNNING')
      for (const { index } of stages) needed.add(stageName({ runId, stageIndex: index, generation }));
  }
  for (const machine of sim.machines) {
    for (const { key } of machine.workers) {
      if (!needed.delete(stageName(key)))
        return { invariant: 'I18', what: `${machine.name} runs ${stageName(key)} for nobody` };
    }
    if (machine.isGone) continue;
    const held = machine.agent?.state.stages.size ?? 0;
    if (held > machine.workers.size) return { invariant: 'I19', what: `${machine.name} holds ${held} stages` };
  }
  const [missing] = needed;
  return missing ? { invariant: 'I18', what: `${missing} is RUNNING without a worker` } : undefined;
}
