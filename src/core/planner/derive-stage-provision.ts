import { RingDirection, type RunPlan } from '../../../gen/stageplane/v1/plan.js';
import type { ProvisionStage } from '../../../gen/stageplane/v1/provision.js';
import type { ProjectionRejection } from '../../../gen/stageplane/v1/rejection.js';
import { type Reader, read, shown } from './message-shape.js';
import { indexedRecords, type PlanRecords, type RawPlan, scannedRecords, stagesOf } from './plan-records.js';
import { inboundPart, outboundPart, type ProvisionParts, planPart, stagePart } from './projection-shapes.js';
import { type ProjectionFault, projectionRejection } from './reject-projection.js';

type Rejected = { kind: 'rejected'; rejection: ProjectionRejection };
export type ProjectionOutcome = { kind: 'projected'; provision: ProvisionStage } | Rejected;
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
  return guarded(() => project(plan, stageIndex, scannedRecords(plan)));
}

/**
 * The provisions of all stages, in the order of `plan.stages`, or the first rejection: never a part of a run. For each
 * stage it gives what deriveStageProvision gives, in time linear in the plan.
 */
export function projectStages(plan: RunPlan): ProjectionsOutcome {
  return guarded<ProjectionsOutcome>(() => {
    const records = indexedRecords(plan);
    const provisions: ProvisionStage[] = [];
    for (const stage of stagesOf(plan)) {
      const outcome = project(plan, stage?.stageIndex, records);
      if (outcome.kind === 'rejected') return outcome;
      provisions.push(outcome.provision);
    }
    return { kind: 'projected', provisions };
  });
}

function project(rawPlan: RawPlan, stageIndex: unknown, records: PlanRecords): ProjectionOutcome {
  const name = shown(stageIndex);
  const rawStage = records.stage(stageIndex);
  if (rawStage === undefined) return reject({ kind: 'unknown-stage', stage: name });
  const stage = read(stagePart, rawStage);
  if (stage.kind === 'malformed')
    return reject({
      kind: 'broken-stage',
      stage: name,
      fault: stage.faults[0]!,
    });
  const plan = read(planPart, rawPlan);
  if (plan.kind === 'malformed')
    return reject({
      kind: 'broken-stage',
      stage: name,
      fault: plan.faults[0]!,
    });

  const inbound = edgePart(inboundPart, records, name, 'inbound', stage.value.inboundEdge);
  if (inbound.kind === 'rejected') return inbound;
  const outbound = edgePart(outboundPart, records, name, 'outbound', stage.value.outboundEdge);
  if (outbound.kind === 'rejected') return outbound;
  const parts = {
    plan: plan.value,
    stage: stage.value,
    inbound: inbound.part,
    outbound: outbound.part,
  };
  return { kind: 'projected', provision: provisionOf(parts) };
}

function edgePart<T>(
  reader: Reader<T>,
  records: PlanRecords,
  stage: string,
  role: 'inbound' | 'outbound',
  edge: bigint,
): { kind: 'found'; part: T } | Rejected {
  const record = records.edge(edge);
  if (record === undefined) return reject({ kind: 'missing-edge', stage, edge, role });
  const outcome = read(reader, record);
  if (outcome.kind === 'malformed') {
    return reject({
      kind: 'broken-edge',
      stage,
      edge,
      role,
      fault: outcome.faults[0]!,
    });
  }
  return { kind: 'found', part: outcome.value };
}

function provisionOf({ plan, stage, inbound, outbound }: ProvisionParts): ProvisionStage {
  const { inboundEdge: _inbound, outboundEdge: _outbound, ...ownStage } = stage;
  const { tokenizer, ...model } = plan.model;
  const { consumer, ...outboundEdge } = outbound;
  const isLast = stage.stageIndex + 1 === stage.stageCount;
  return {
    runId: plan.runId,
    ...ownStage,
    tokenizer,
    inbound: {
      ...inbound,
      ringSpec: {
        ...inbound.ringSpec,
        direction: RingDirection.RING_DIRECTION_INGRESS,
      },
    },
    outbound: {
      ...outboundEdge,
      consumerNodeId: consumer.endpoint.value.nodeId,
      ringSpec: {
        ...outbound.ringSpec,
        direction: RingDirection.RING_DIRECTION_EGRESS,
      },
    },
    model,
    runtime: {
      roleId: BigInt(stage.stageIndex),
      inputPort: 'input',
      outputPort: 'output',
      sampling: isLast ? plan.runtime.sampling : undefined,
    },
  };
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
