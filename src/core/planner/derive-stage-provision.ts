import { RingDirection, type RunPlan } from '../../../gen/stageplane/v1/plan.js';
import type { ProvisionStage } from '../../../gen/stageplane/v1/provision.js';
import type { ProjectionRejection } from '../../../gen/stageplane/v1/rejection.js';
import { type ReadOutcome, read, shown } from './message-shape.js';
import { indexedRecords, type PlanRecords, type RawPlan, scannedRecords, stagesOf } from './plan-records.js';
import { consumerPart, edgePart, outboundPart, type ProvisionParts, planPart, stagePart } from './projection-shapes.js';
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
  return guarded(() => project(plan, stageIndex, scannedRecords(plan), eachTime));
}

/**
 * The provisions of all stages, in the order of `plan.stages`, or the first rejection: never a part of a run. For each
 * stage it gives what deriveStageProvision gives, in time linear in the plan. Provisions share the parts that they are told
 * alike, an edge's object spec among them: they are messages to send, not to change.
 */
export function projectStages(plan: RunPlan): ProjectionsOutcome {
  return guarded<ProjectionsOutcome>(() => {
    const records = indexedRecords(plan);
    const parts = onceForNeighbours();
    const provisions: ProvisionStage[] = [];
    for (const stage of stagesOf(plan)) {
      const outcome = project(plan, stage?.stageIndex, records, parts);
      if (outcome.kind === 'rejected') return outcome;
      provisions.push(outcome.provision);
    }
    return { kind: 'projected', provisions };
  });
}

/** How the parts of a plan are read that more than one stage is told. */
interface SharedParts {
  plan(raw: unknown): ReadOutcome<ProvisionParts['plan']>;
  edge(raw: unknown): ReadOutcome<ProvisionParts['inbound']>;
}

const eachTime: SharedParts = {
  plan: (raw) => read(planPart, raw),
  edge: (raw) => read(edgePart, raw),
};

/** The plan is the same for all stages, and a stage's outbound edge is the inbound one of the next. */
function onceForNeighbours(): SharedParts {
  return { plan: rememberLast(eachTime.plan), edge: rememberLast(eachTime.edge) };
}

function rememberLast<T>(readPart: (raw: unknown) => ReadOutcome<T>): (raw: unknown) => ReadOutcome<T> {
  let last: { raw: unknown; outcome: ReadOutcome<T> } | undefined;
  return (raw) => {
    if (last !== undefined && last.raw === raw) return last.outcome;
    const outcome = readPart(raw);
    last = { raw, outcome };
    return outcome;
  };
}

function project(rawPlan: RawPlan, stageIndex: unknown, records: PlanRecords, parts: SharedParts): ProjectionOutcome {
  const name = shown(stageIndex);
  const rawStage = records.stage(stageIndex);
  if (rawStage === undefined) return reject({ kind: 'unknown-stage', stage: name });
  const stage = read(stagePart, rawStage);
  if (stage.kind === 'malformed') return reject({ kind: 'broken-stage', stage: name, fault: stage.faults[0]! });
  const plan = parts.plan(rawPlan);
  if (plan.kind === 'malformed') return reject({ kind: 'broken-stage', stage: name, fault: plan.faults[0]! });

  const { inboundEdge, outboundEdge } = stage.value;
  const rawInbound = records.edge(inboundEdge);
  if (rawInbound === undefined) return missing(name, 'inbound', inboundEdge);
  const inbound = parts.edge(rawInbound);
  if (inbound.kind === 'malformed') return broken(name, 'inbound', inboundEdge, inbound);

  const rawOutbound = records.edge(outboundEdge);
  if (rawOutbound === undefined) return missing(name, 'outbound', outboundEdge);
  const outbound = parts.edge(rawOutbound);
  const consumer = read(consumerPart, rawOutbound);
  if (outbound.kind === 'malformed' || consumer.kind === 'malformed') {
    // Read as one, so that the first of its faults is the first of its fields.
    return broken(name, 'outbound', outboundEdge, read(outboundPart, rawOutbound));
  }
  const provision = provisionOf({
    plan: plan.value,
    stage: stage.value,
    inbound: inbound.value,
    outbound: outbound.value,
    consumer: consumer.value.consumer,
  });
  return { kind: 'projected', provision };
}

type Role = 'inbound' | 'outbound';

function missing(stage: string, role: Role, edge: bigint): Rejected {
  return reject({ kind: 'missing-edge', stage, edge, role });
}

function broken(stage: string, role: Role, edge: bigint, outcome: ReadOutcome<unknown>): Rejected {
  // A value that is sound when it is read again has code of its own, and no reading of it can be trusted.
  if (outcome.kind === 'read') return reject({ kind: 'unreadable-plan' });
  return reject({ kind: 'broken-edge', stage, edge, role, fault: outcome.faults[0]! });
}

function provisionOf({ plan, stage, inbound, outbound, consumer }: ProvisionParts): ProvisionStage {
  const { model } = plan;
  const { stageIndex, stageCount } = stage;
  return {
    runId: plan.runId,
    stageIndex,
    stageCount,
    nodeId: stage.nodeId,
    ggufSource: stage.ggufSource,
    layerStart: stage.layerStart,
    layerEndExclusive: stage.layerEndExclusive,
    tokenizer: model.tokenizer,
    inbound: {
      edgeId: inbound.edgeId,
      kind: inbound.kind,
      objectSpec: inbound.objectSpec,
      ringSpec: { ...inbound.ringSpec, direction: RingDirection.RING_DIRECTION_INGRESS },
    },
    outbound: {
      edgeId: outbound.edgeId,
      kind: outbound.kind,
      consumerNodeId: consumer.endpoint.value.nodeId,
      objectSpec: outbound.objectSpec,
      ringSpec: { ...outbound.ringSpec, direction: RingDirection.RING_DIRECTION_EGRESS },
    },
    model: {
      modelId: model.modelId,
      hiddenDim: model.hiddenDim,
      dtypeFamily: model.dtypeFamily,
      dtypeWidthBytes: model.dtypeWidthBytes,
      maxSeqLen: model.maxSeqLen,
    },
    runtime: {
      roleId: BigInt(stageIndex),
      inputPort: 'input',
      outputPort: 'output',
      sampling: stageIndex + 1 === stageCount ? plan.runtime.sampling : undefined,
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
