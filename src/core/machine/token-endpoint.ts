import { RunMode } from '../../../gen/stageplane/v1/planner.js';
import { StageFaultReason as Reason, type StageFault } from '../../../gen/stageplane/v1/run.js';
import type { RunId } from '../ids.js';
import type { Draft } from './draft.js';
import { faultRun, settleRun } from './run-lifecycle.js';
import { isLive } from './run-transitions.js';
import type { RunState } from './state.js';

/** What became of the process is the same to a run however it went; the sentence says how. */
const processEnds = new Set([
  Reason.STAGE_FAULT_REASON_WORKER_START_FAILED,
  Reason.STAGE_FAULT_REASON_WORKER_EXITED,
  Reason.STAGE_FAULT_REASON_WORKER_PROTOCOL,
  Reason.STAGE_FAULT_REASON_WORKER_UNRESPONSIVE,
]);

/** Begins the run's token endpoint, so that it loads its tokenizer while the stages load. */
export function openTokenEndpoint(draft: Draft, id: RunId): void {
  const run = draft.run(id);
  if (!run) return;
  draft.putRun({ ...run, volatile: { ...run.volatile, endpoint: 'opening' } });
  draft.perform({ kind: 'open-token-endpoint', runId: id, generation: run.generation });
}

/** Token endpoints end with their orchestrator: each live run gets another, unless its one answer was under way. */
export function reopenTokenEndpoints(draft: Draft): void {
  for (const run of draft.allRuns()) {
    if (!isLive(run.phase)) continue;
    if (run.phase === 'RUNNING' && run.mode === RunMode.RUN_MODE_ONE_SHOT) {
      const next = run.restart?.basis ? 'it is to be asked again' : 'create the run again';
      const message = `the orchestrator restarted while it answered the prompt of run ${run.runId}: ${next}`;
      const fault = { reason: Reason.STAGE_FAULT_REASON_TOKEN_ENDPOINT_LOST, message, logTail: [] };
      faultRun(draft, run.runId, fault, 'token-endpoint');
      continue;
    }
    openTokenEndpoint(draft, run.runId);
    settleRun(draft, run.runId);
  }
}

export function tokenEndpointReady(draft: Draft, id: RunId, generation: number): void {
  const run = runWithEndpoint(draft, id, generation);
  if (!run) return;
  draft.putRun({ ...run, volatile: { ...run.volatile, endpoint: 'ready' } });
  settleRun(draft, id);
}

/** Ends a live run. A closed edge is a complaint about a neighbour, here as in a stage; all else is the endpoint's own. */
export function tokenEndpointLost(draft: Draft, id: RunId, generation: number, fault: StageFault): void {
  if (!runWithEndpoint(draft, id, generation)) return;
  const reason = processEnds.has(fault.reason) ? Reason.STAGE_FAULT_REASON_TOKEN_ENDPOINT_LOST : fault.reason;
  faultRun(draft, id, { ...fault, reason }, 'token-endpoint');
}

/** The run whose endpoint this is. One that was closed, or is of another generation, changes nothing (I6). */
function runWithEndpoint(draft: Draft, id: RunId, generation: number): RunState | undefined {
  const run = draft.run(id);
  const isCurrent = run?.generation === generation;
  if (isCurrent && run.volatile.endpoint !== undefined) return run;
  draft.ignored[isCurrent ? 'out-of-date' : 'old-generation'] += 1;
  return undefined;
}
