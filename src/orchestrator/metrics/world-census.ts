import type { NodeId, SessionId } from '../../core/ids.js';
import type { Draft } from '../../core/machine/draft.js';
import { isLive, type RunPhase, runPhases } from '../../core/machine/run-transitions.js';
import { type StagePhase, stagePhases } from '../../core/machine/stage-transitions.js';
import type { RunState, StageState } from '../../core/machine/state.js';

/** What one device's stages hold, in bytes. */
export interface Held {
  reserved: bigint;
  resident: bigint;
}

/** What is counted in one pass over all runs. */
export interface Census {
  readonly runs: Record<RunPhase, number>;
  /** Without those that are STOPPED. */
  readonly stages: Record<StagePhase, number>;
  /** Stages whose provision or stop is owed: not sent yet, or not answered yet. */
  readonly outbox: { provisionUnsent: number; provisionUnanswered: number; stopUnsent: number; stopUnanswered: number };
  /** Live stages. */
  readonly stagesOfNode: Map<NodeId, number>;
  readonly heldOf: Map<NodeId, Map<string, Held>>;
}

export function takeCensus(draft: Draft): Census {
  const census: Census = {
    runs: zeroes(runPhases),
    stages: zeroes(stagePhases),
    outbox: { provisionUnsent: 0, provisionUnanswered: 0, stopUnsent: 0, stopUnanswered: 0 },
    stagesOfNode: new Map(),
    heldOf: new Map(),
  };
  for (const run of draft.allRuns()) {
    census.runs[run.phase] += 1;
    run.stages.forEach((stage, index) => {
      countStage(census, draft, run, stage, run.settings[index]);
    });
    for (const { stage, settings } of run.remnants) countStage(census, draft, run, stage, settings);
  }
  return census;
}

function countStage(
  census: Census,
  draft: Draft,
  run: RunState,
  stage: StageState,
  settings: RunState['settings'][number] | undefined,
): void {
  const { phase, nodeId } = stage;
  if (phase === 'STOPPED') return;
  census.stages[phase] += 1;
  countOwed(census, draft.contact(nodeId)?.session, run, stage);
  census.stagesOfNode.set(nodeId, (census.stagesOfNode.get(nodeId) ?? 0) + 1);
  if (!settings) return;
  const devices = census.heldOf.get(nodeId) ?? new Map<string, Held>();
  if (devices.size === 0) census.heldOf.set(nodeId, devices);
  const held = devices.get(settings.device) ?? { reserved: 0n, resident: 0n };
  held.reserved += settings.reservedBytes;
  held.resident += stage.volatile.residentBytes ?? 0n;
  devices.set(settings.device, held);
}

/** As `dispatchTo` sees it: the stages are the outbox. */
function countOwed({ outbox }: Census, session: SessionId | undefined, run: RunState, stage: StageState): void {
  const { phase, volatile } = stage;
  if (phase === 'PENDING' || phase === 'SENT') {
    if (!isLive(run.phase)) return;
    const told = phase === 'SENT' && session !== undefined && volatile.provisionedIn === session;
    outbox[told ? 'provisionUnanswered' : 'provisionUnsent'] += 1;
  } else if (phase === 'STOPPING' || phase === 'LOST') {
    const told = session !== undefined && volatile.stoppedIn === session;
    outbox[told ? 'stopUnanswered' : 'stopUnsent'] += 1;
  }
}

function zeroes<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}
