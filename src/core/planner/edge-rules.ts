import { dtypeFamilyToJSON } from '../../../gen/stageplane/v1/model.js';
import { EdgeKind, edgeKindToJSON, objectKindToJSON } from '../../../gen/stageplane/v1/plan.js';
import { activationObjectSpec, tokenObjectSpec, tokenRingFloor } from './edge-specs.js';
import { type EdgeSkeleton, edgeAt, inboundEdgeOf, outboundEdgeOf } from './edge-topology.js';
import type { PlanFault } from './plan-fault.js';
import type { PlanSubject } from './plan-subject.js';
import type { WholeEndpoint, WholeObjectSpec } from './read-edge.js';
import type { WholeRunPlan } from './read-run-plan.js';

/**
 * Edges that are not the ones of the plan's stages. Whose node the orchestrator is, only the two token edges say: the first
 * one is believed, and the other must agree.
 */
export function* wrongEdges({ plan, stageCount }: PlanSubject): Iterable<PlanFault> {
  if (plan.edges.length !== stageCount + 1) {
    yield {
      kind: 'edge-count-differs',
      field: 'edges',
      got: plan.edges.length,
      expected: stageCount + 1,
    };
  }
  yield* wrongStageEdges(plan);
  const orchestrator = plan.edges[0]?.producer.endpoint.value.nodeId ?? 0n;
  for (const [position, edge] of plan.edges.slice(0, stageCount + 1).entries()) {
    yield* edgeFaults(`edges[${position}]`, edge, edgeAt(position, orchestrator, plan.stages));
  }
}

function* wrongStageEdges({ stages }: WholeRunPlan): Iterable<PlanFault> {
  for (const [position, { stageIndex, inboundEdge, outboundEdge }] of stages.entries()) {
    const ends = [
      {
        field: `stages[${position}].inbound_edge`,
        got: inboundEdge,
        expected: inboundEdgeOf(stageIndex),
      },
      {
        field: `stages[${position}].outbound_edge`,
        got: outboundEdge,
        expected: outboundEdgeOf(stageIndex),
      },
    ];
    for (const end of ends) {
      if (end.got !== end.expected) yield { kind: 'stage-edge-differs', stageIndex, ...end };
    }
  }
}

function* edgeFaults(field: string, edge: EdgeSkeleton, expected: EdgeSkeleton): Iterable<PlanFault> {
  const { edgeId } = edge;
  if (edgeId !== expected.edgeId) {
    yield {
      kind: 'edge-id-differs',
      field: `${field}.edge_id`,
      got: edgeId,
      expected: expected.edgeId,
    };
  }
  if (edge.kind !== expected.kind) {
    const [got, wanted] = [edgeKindToJSON(edge.kind), edgeKindToJSON(expected.kind)];
    yield {
      kind: 'edge-kind-differs',
      field: `${field}.kind`,
      edgeId,
      got,
      expected: wanted,
    };
  }
  for (const end of ['producer', 'consumer'] as const) {
    if (sameEndpoint(edge[end], expected[end])) continue;
    yield {
      kind: 'endpoint-differs',
      field: `${field}.${end}`,
      edgeId,
      got: edge[end],
      expected: expected[end],
    };
  }
}

function sameEndpoint({ endpoint: a }: WholeEndpoint, { endpoint: b }: WholeEndpoint): boolean {
  if (a.value.nodeId !== b.value.nodeId) return false;
  if (a.$case === 'orchestrator' || b.$case === 'orchestrator') return a.$case === b.$case;
  return a.value.stageIndex === b.value.stageIndex;
}

/** Object specs that are not the ones that the model's numbers make. The edges are known to be in order by now. */
export function* wrongObjectSpecs({ plan }: PlanSubject): Iterable<PlanFault> {
  const token = comparable(tokenObjectSpec(plan.model));
  const activation = comparable(activationObjectSpec(plan.model));
  for (const [position, { edgeId, kind, objectSpec }] of plan.edges.entries()) {
    const expected = kind === EdgeKind.EDGE_KIND_ACTIVATION ? activation : token;
    const actual = comparable(objectSpec);
    for (const name of Object.keys(actual) as (keyof typeof actual)[]) {
      if (actual[name] === expected[name]) continue;
      const fault = name === 'shape' ? 'shape-differs' : 'object-spec-differs';
      const field = `edges[${position}].object_spec.${name}`;
      yield {
        kind: fault,
        field,
        edgeId,
        got: actual[name],
        expected: expected[name],
      };
    }
  }
}

/** The fields that can differ, by proto name; layout and sequence policy have one known value each. */
function comparable(spec: WholeObjectSpec) {
  return {
    kind: objectKindToJSON(spec.kind),
    max_extent: spec.maxExtent,
    dtype_family: dtypeFamilyToJSON(spec.dtypeFamily),
    dtype_width_bytes: spec.dtypeWidthBytes,
    shape: shapeInWords(spec.shape),
    alignment: spec.alignment,
  };
}

function shapeInWords({ rule }: WholeObjectSpec['shape']): string {
  if (rule.$case !== 'activationRows') return rule.$case;
  return `${rule.value.maxSeqLen} rows of ${rule.value.hiddenDim} elements`;
}

/** Token rings that cannot hold the longest prompt and its header. */
export function* smallTokenRings({ plan }: PlanSubject): Iterable<PlanFault> {
  const floor = tokenRingFloor(plan.model.maxSeqLen);
  for (const [position, { edgeId, kind, ringSpec }] of plan.edges.entries()) {
    const capacity = ringSpec.dataCapacity;
    if (kind === EdgeKind.EDGE_KIND_ACTIVATION || capacity >= floor) continue;
    yield {
      kind: 'token-ring-too-small',
      field: `edges[${position}].ring_spec.data_capacity`,
      edgeId,
      capacity,
      floor,
    };
  }
}
