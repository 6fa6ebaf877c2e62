import { type Estimate, EstimateBasis, type MemoryBreakdown } from '../../../gen/stageplane/v1/planner.js';
import type { StageBytes } from './stage-bytes.js';

const { ESTIMATE_BASIS_STATIC: STATIC, ESTIMATE_BASIS_LEDGER: LEDGER } = EstimateBasis;

/** The bytes of a stage as a report shows them, every number with where it comes from. The parts add up to the total. */
export function memoryBreakdown(
  bytes: StageBytes,
  { stageIndex, nodeId }: { stageIndex: number; nodeId: bigint },
): MemoryBreakdown {
  const { measured } = bytes;
  return {
    stageIndex,
    nodeId,
    weights: estimate(bytes.weights, 'tensor bytes of the layers and of what every stage holds'),
    kvCache: estimate(bytes.kvCache, 'keys and values of every session at full context'),
    state: estimate(0, 'no layer keeps a recurrent state'),
    compute: measured
      ? estimate(bytes.compute, 'measured when this stage ran here, its process included', LEDGER)
      : estimate(bytes.compute, 'estimated from the widest layer of the model'),
    embedding: estimate(bytes.embedding, 'token embedding of the first stage; 0 where it is looked up in the file'),
    head: estimate(bytes.head, 'output head of the last stage, or its copy of a tied embedding'),
    rings: estimate(bytes.rings, 'buffers of the two edges; in ordinary memory beside an accelerator'),
    overhead: measured
      ? estimate(bytes.overhead, 'part of what was measured as compute', LEDGER)
      : estimate(bytes.overhead, 'usual size of a process and its runtime'),
    total: estimate(bytes.total, 'sum of the parts on the device', measured ? LEDGER : STATIC),
    hostBytes: estimate(bytes.host, 'ordinary memory beside an accelerator: the edges and the process'),
  };
}

function estimate(value: number, note: string, basis: EstimateBasis = STATIC): Estimate {
  return { value, unit: 'bytes', basis, note };
}
