import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import type {
  InboundEdgeProvision,
  OutboundEdgeProvision,
  ProvisionStage,
} from '../../../gen/stageplane/v1/provision.js';
import type { ProjectionRejection } from '../../../gen/stageplane/v1/rejection.js';
import type { PlanFault } from './plan-fault.js';
import { indexedRecords, type PlanRecords, type RawPlan, scannedRecords, stagesOf } from './plan-records.js';
import { attempt, type Whole } from './read-message.js';
import { type ProvisionReaders, provisionReaders } from './read-projection.js';
import { type ProjectionFault, projectionRejection } from './reject-projection.js';
import { shown } from './shown.js';

type Rejected = { kind: 'rejected'; rejection: ProjectionRejection };
/** One stage's provision, or why the plan has none. */
export type ProjectionOutcome = { kind: 'projected'; provision: ProvisionStage } | Rejected;
/** The provisions of some stages, or why one of them has none. */
export type ProjectionsOutcome = { kind: 'projected'; provisions: ProvisionStage[] } | Rejected;

/**
 * What stage `stageIndex` is told of a plan: its own layers and its own two edges. The first record of an index or edge
 * id counts, and fields are copied as they stand, whether or not the plan as a whole is sound (validateRunPlan says).
 *
 * Pure, total and deterministic; the provision shares no memory with the plan. UNKNOWN_STAGE when the plan has no whole
 * record of the stage (or no whole model or sampling policy for it), then MISSING_EDGE when it has no whole record of
 * one of the stage's two edges, the consumer of the outbound one included. Looks through the plan at each call; to
 * project every stage, projectStages does so once.
 */
export function deriveStageProvision(plan: RunPlan, stageIndex: number): ProjectionOutcome {
  return guarded(() => project(plan, stageIndex, scannedRecords(plan), provisionReaders()));
}

/**
 * `deriveStageProvision` of one plan, for as long as that stays as it is: looks through it once. Provisions share the parts that
 * they are told alike, an edge's object spec among them: they are messages to send, not to change.
 */
export function stageProjector(plan: RunPlan): (stageIndex: unknown) => ProjectionOutcome {
  const records = indexedRecords(plan);
  const readers = provisionReaders();
  return (stageIndex) => guarded(() => project(plan, stageIndex, records, readers));
}

/**
 * The provisions of all stages, in the order of `plan.stages`, or the first rejection: never a part of a run. For each
 * stage it gives what deriveStageProvision gives, in time linear in the plan. Provisions share the parts that they are told
 * alike, an edge's object spec among them: they are messages to send, not to change.
 */
export function projectStages(plan: RunPlan): ProjectionsOutcome {
  return guarded<ProjectionsOutcome>(() => {
    const projectStage = stageProjector(plan);
    const provisions: ProvisionStage[] = [];
    for (const stage of stagesOf(plan)) {
      const outcome = projectStage(stage?.stageIndex);
      if (outcome.kind === 'rejected') return outcome;
      provisions.push(outcome.provision);
    }
    return { kind: 'projected', provisions };
  });
}

function project(
  rawPlan: RawPlan,
  stageIndex: unknown,
  records: PlanRecords,
  readers: ProvisionReaders,
): ProjectionOutcome {
  const faults: PlanFault[] = [];
  const rawStage = records.stage(stageIndex);
  if (rawStage === undefined) return reject({ kind: 'unknown-stage', stage: shown(stageIndex) });
  const stage = attempt(readers.stage, rawStage, faults);
  if (faults.length > 0) return reject({ kind: 'broken-stage', stage: shown(stageIndex), fault: faults[0]! });
  const plan = attempt(readers.plan, rawPlan, faults);
  if (faults.length > 0) return reject({ kind: 'broken-stage', stage: shown(stageIndex), fault: faults[0]! });

  const rawInbound = records.edge(stage.inboundEdge);
  if (rawInbound === undefined) return rejectEdge(stageIndex, 'inbound', stage.inboundEdge);
  const inbound = attempt(readers.inbound, rawInbound, faults);
  if (faults.length > 0) return rejectEdge(stageIndex, 'inbound', stage.inboundEdge, faults[0]);

  const rawOutbound = records.edge(stage.outboundEdge);
  if (rawOutbound === undefined) return rejectEdge(stageIndex, 'outbound', stage.outboundEdge);
  const outbound = attempt(readers.outbound, rawOutbound, faults);
  if (faults.length > 0) return rejectEdge(stageIndex, 'outbound', stage.outboundEdge, faults[0]);
  return { kind: 'projected', provision: provisionOf(plan, stage, inbound, outbound) };
}

function provisionOf(
  { runId, model, runtime }: Whole<ProvisionReaders['plan']>,
  stage: Whole<ProvisionReaders['stage']>,
  inbound: InboundEdgeProvision,
  outbound: OutboundEdgeProvision,
): ProvisionStage {
  const { stageIndex, stageCount } = stage;
  return {
    runId,
    stageIndex,
    stageCount,
    nodeId: stage.nodeId,
    ggufSource: stage.ggufSource,
    layerStart: stage.layerStart,
    layerEndExclusive: stage.layerEndExclusive,
    tokenizer: model.tokenizer,
    inbound,
    outbound,
    model: model.facts,
    runtime: {
      roleId: BigInt(stageIndex),
      inputPort: 'input',
      outputPort: 'output',
      sampling: stageIndex + 1 === stageCount ? runtime.sampling : undefined,
    },
  };
}

function rejectEdge(stageIndex: unknown, role: 'inbound' | 'outbound', edge: bigint, fault?: PlanFault): Rejected {
  const stage = shown(stageIndex);
  return reject(
    fault ? { kind: 'broken-edge', stage, edge, role, fault } : { kind: 'missing-edge', stage, edge, role },
  );
}

/** Total even for a plan whose own code (a getter, a proxy) throws while its records are looked through. */
function guarded<T>(derive: () => T): T | Rejected {
  try {
    return derive();
  } catch {
    return reject({ kind: 'unreadable-plan' });
  }
}

function reject(fault: ProjectionFault): Rejected {
  return { kind: 'rejected', rejection: projectionRejection(fault) };
}
