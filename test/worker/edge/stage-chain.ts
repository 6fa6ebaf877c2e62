import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EdgeKind, ObjectSpec, RingSpec } from '../../../gen/stageplane/v1/plan.js';
import {
  InboundEdgeProvision,
  OutboundEdgeProvision,
  type StageSettings,
} from '../../../gen/stageplane/v1/provision.js';
import type { PrepareStage } from '../../../gen/stageplane/v1/worker.js';
import type { EdgeContract } from '../../../src/worker/edge/edge-contract.js';
import { prepareCommand } from '../prepare-command.js';
import { WorkerProcess, workerMain } from '../worker-process.js';
import { TokenEndpoint } from './token-endpoint.js';

export interface ChainModel {
  readonly modelPath: string;
  readonly totalLayers: number;
  readonly hiddenDim: number;
}

const RUN_ID = 7n;
const CONTEXT_LENGTH = 128;
export const MICRO_BATCH = 8;
/** Small, so that the rings of a few prompts are full now and then. */
const RING_BYTES = 4096;

/** Real worker processes, chained by Unix sockets, between the two ends of a token endpoint. */
export class StageChain {
  private constructor(
    readonly folder: string,
    readonly workers: readonly WorkerProcess[],
    readonly endpoint: TokenEndpoint,
  ) {}

  /** `cuts` are the layers at which a new stage starts. Resolves when every stage is ready. */
  static async start(
    model: ChainModel,
    cuts: readonly number[],
    settings: Partial<StageSettings> = {},
  ): Promise<StageChain> {
    const folder = await mkdtemp(join(tmpdir(), 'stageplane-chain-'));
    const bounds = [0, ...cuts, model.totalLayers];
    const stageCount = bounds.length - 1;
    const workers = bounds.slice(1).map((end, index) => {
      const worker = new WorkerProcess(workerMain);
      const command = stageCommand(model, { folder, index, stageCount, layers: [bounds[index]!, end] }, settings);
      worker.send({ $case: 'prepare', value: command });
      return worker;
    });
    const ends = [0, stageCount].map((edge) => ({
      socket: socketOf(folder, edge),
      contract: contractOf(edge, stageCount, model.hiddenDim),
    }));
    const endpoint = await TokenEndpoint.open(ends[0]!, ends[1]!);
    await Promise.all(workers.map((worker) => worker.heard('ready')));
    return new StageChain(folder, workers, endpoint);
  }

  async stop(): Promise<void> {
    this.endpoint.close();
    for (const { child } of this.workers) child.kill('SIGKILL');
    await Promise.all(this.workers.map(({ ended }) => ended));
    await rm(this.folder, { recursive: true });
  }
}

/** The command that one stage of a chain is prepared with. Edges count from 0 here: edge `i` goes into stage `i`. */
export function stageCommand(
  model: ChainModel,
  stage: { folder: string; index: number; stageCount: number; layers: [start: number, end: number] },
  settings: Partial<StageSettings> = {},
): PrepareStage {
  const { folder, index, stageCount, layers } = stage;
  const own = { contextLength: CONTEXT_LENGTH, microBatch: MICRO_BATCH, sessions: 4, ...settings };
  const command = prepareCommand({ ...model, layers }, own);
  const edgeProvision = (edge: number) => {
    const { edgeId, maxExtent, alignment, capacity } = contractOf(edge, stageCount, model.hiddenDim);
    return {
      edgeId,
      kind: kindOf(edge, stageCount),
      objectSpec: ObjectSpec.fromPartial({ maxExtent: BigInt(maxExtent), alignment }),
      ringSpec: RingSpec.fromPartial({ dataCapacity: BigInt(capacity) }),
    };
  };
  Object.assign(command.provision!, {
    runId: RUN_ID,
    nodeId: producerOf(index + 1),
    stageIndex: index,
    stageCount,
    inbound: InboundEdgeProvision.fromPartial(edgeProvision(index)),
    outbound: OutboundEdgeProvision.fromPartial(edgeProvision(index + 1)),
  });
  return {
    ...command,
    producerNodeId: producerOf(index),
    inboundSocket: socketOf(folder, index),
    outboundSocket: socketOf(folder, index + 1),
  };
}

export function contractOf(edge: number, stageCount: number, hiddenDim: number): EdgeContract {
  const isToken = kindOf(edge, stageCount) !== EdgeKind.EDGE_KIND_ACTIVATION;
  return {
    runId: RUN_ID,
    generation: 1,
    edgeId: BigInt(edge + 1),
    producerNodeId: producerOf(edge),
    maxExtent: CONTEXT_LENGTH * 4 * (isToken ? 1 : hiddenDim),
    alignment: 4,
    capacity: RING_BYTES,
  };
}

export function socketOf(folder: string, edge: number): string {
  return join(folder, `edge-${edge}.sock`);
}

/** Node 1 is the token endpoint's; stage 0 is on node 2, and so on. */
function producerOf(edge: number): bigint {
  return BigInt(edge + 1);
}

function kindOf(edge: number, stageCount: number): EdgeKind {
  if (edge === 0) return EdgeKind.EDGE_KIND_TOKEN_IN;
  return edge === stageCount ? EdgeKind.EDGE_KIND_TOKEN_OUT : EdgeKind.EDGE_KIND_ACTIVATION;
}
