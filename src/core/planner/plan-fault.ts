import type { WholeEndpoint } from './read-edge.js';

/** Every fault has the path of the field where it lies, in proto names: `placement.fixed_linear.stages[2].node_id`. */
interface At {
  field: string;
}

/** A number or name in a plan that is not what the rest of the plan makes it. */
interface Differs extends At {
  got: bigint | number | string;
  expected: bigint | number | string;
}

/**
 * Everything that can be wrong with a planner input or a plan, as data. The rejection kind and the sentence of each are
 * in `describe-fault.ts` and nowhere else.
 */
export type PlanFault =
  // The value is no such message.
  | (At & { kind: 'unreadable' })
  | (At & { kind: 'unset'; choices?: readonly string[] })
  | (At & { kind: 'not-a-value'; expected: string; got: string })
  | (At & { kind: 'unknown-enum-value'; got: string; known: readonly string[] })
  // The model and the rings.
  | (At & { kind: 'no-stages' })
  | (At & {
      kind: 'fewer-layers-than-stages';
      numLayers: number;
      stageCount: number;
    })
  | (At & { kind: 'zero-size' })
  | (At & { kind: 'zero-hidden-dim' })
  | (At & { kind: 'hidden-dim-too-large'; hiddenDim: bigint })
  | (At & { kind: 'size-too-large'; size: bigint })
  | (At & { kind: 'extent-too-large'; extent: bigint })
  | (At & { kind: 'ring-without-capacity' })
  | (At & { kind: 'ring-alignment'; alignment: number })
  // The placement.
  | (At & { kind: 'unknown-node'; stageIndex: number; nodeId: bigint })
  | (At & { kind: 'duplicate-stage'; stageIndex: number; first: string })
  | (At & { kind: 'missing-stage'; stageIndex: number; stageCount: number })
  | (At & {
      kind: 'empty-range';
      stageIndex: number;
      start: number;
      endExclusive: number;
    })
  | (At & {
      kind: 'range-gap' | 'range-overlap';
      stageIndex: number;
      start: number;
      expected: number;
    })
  | (At & {
      kind: 'range-end';
      stageIndex: number;
      endExclusive: number;
      numLayers: number;
    })
  | (At & {
      kind: 'activation-edge-differs';
      position: number;
      producer: number;
      consumer: number;
    })
  | (At & { kind: 'activation-edge-count'; got: number; expected: number })
  // A plan that contradicts itself.
  | (Differs & { kind: 'run-id-differs' })
  | (Differs & { kind: 'stage-count-differs' })
  | (Differs & { kind: 'stage-out-of-order' })
  | (At & { kind: 'gguf-source-differs'; stageIndex: number })
  | (Differs & { kind: 'edge-count-differs' })
  | (Differs & { kind: 'edge-id-differs' })
  | (Differs & { kind: 'edge-kind-differs'; edgeId: bigint })
  | (Differs & { kind: 'stage-edge-differs'; stageIndex: number })
  | (At & {
      kind: 'endpoint-differs';
      edgeId: bigint;
      got: WholeEndpoint;
      expected: WholeEndpoint;
    })
  | (Differs & { kind: 'object-spec-differs'; edgeId: bigint })
  | (Differs & { kind: 'shape-differs'; edgeId: bigint })
  | (At & {
      kind: 'token-ring-too-small';
      edgeId: bigint;
      capacity: bigint;
      floor: bigint;
    });

/** The fault of one kind. */
export type FaultOf<K extends PlanFault['kind']> = Extract<PlanFault, { kind: K }>;
