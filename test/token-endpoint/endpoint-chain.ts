import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EdgeEndpoint, EdgeKind, type EdgePlan, ObjectSpec, RingSpec } from '../../gen/stageplane/v1/plan.js';
import { StageSettings } from '../../gen/stageplane/v1/provision.js';
import { OpenTokenEndpoint } from '../../gen/stageplane/v1/token_endpoint.js';
import { type ChainModel, contractOf, MICRO_BATCH, socketOf, stageCommand } from '../worker/edge/stage-chain.js';
import { WorkerProcess, workerMain } from '../worker/worker-process.js';
import { EndpointProcess } from './endpoint-process.js';

/** Default settings of a chain's stages, as far as its endpoint reads them. */
const settingsOfChain = { engine: 'fixture', contextLength: 128, microBatch: MICRO_BATCH, sessions: 4 };

/** A token endpoint process and stage worker processes, chained by Unix sockets. */
export class EndpointChain {
  private constructor(
    readonly folder: string,
    readonly workers: readonly WorkerProcess[],
    public endpoint: EndpointProcess,
    readonly command: OpenTokenEndpoint,
  ) {}

  /** `cuts` are the layers at which a new stage starts. Resolves when every stage and the endpoint are ready. */
  static start(
    model: ChainModel,
    cuts: readonly number[],
    settings: Partial<StageSettings> = {},
    open: Partial<OpenTokenEndpoint> = {},
  ): Promise<EndpointChain> {
    const bounds = [0, ...cuts, model.totalLayers];
    const ranges = bounds.slice(1).map((end, index): [number, number] => [bounds[index]!, end]);
    return EndpointChain.connect(model, ranges, settings, open);
  }

  /** The layers of each stage, in any order that no plan can have. */
  static async connect(
    model: ChainModel,
    ranges: readonly (readonly [start: number, end: number])[],
    settings: Partial<StageSettings> = {},
    open: Partial<OpenTokenEndpoint> = {},
  ): Promise<EndpointChain> {
    const folder = await mkdtemp(join(tmpdir(), 'stageplane-tokens-'));
    const stageCount = ranges.length;
    const workers = ranges.map(([start, end], index) => {
      const worker = new WorkerProcess(workerMain);
      const command = stageCommand(model, { folder, index, stageCount, layers: [start, end] }, settings);
      worker.send({ $case: 'prepare', value: command });
      return worker;
    });
    const endpoint = new EndpointProcess();
    const value = { ...openCommand(model, folder, stageCount, settings), ...open };
    endpoint.send({ $case: 'open', value });
    await Promise.all([endpoint.heard('ready'), ...workers.map((worker) => worker.heard('ready'))]);
    return new EndpointChain(folder, workers, endpoint, value);
  }

  /** Kills the endpoint as a crash of its machine's orchestrator does, and opens another one for the same run. */
  async replaceEndpoint(firstSession: bigint): Promise<void> {
    this.endpoint.child.kill('SIGKILL');
    this.endpoint = new EndpointProcess();
    this.endpoint.send({ $case: 'open', value: { ...this.command, firstSession } });
    const fault = this.endpoint.heard('fault').then(({ message }) => Promise.reject(new Error(message)));
    await Promise.race([this.endpoint.heard('ready'), fault]);
    // It may fault, or be killed, later on.
    fault.catch(() => {});
  }

  async stop(): Promise<void> {
    for (const { child } of [this.endpoint, ...this.workers]) child.kill('SIGKILL');
    await Promise.all([this.endpoint, ...this.workers].map(({ ended }) => ended));
    await rm(this.folder, { recursive: true });
  }
}

/** The command that opens the endpoint of a chain. */
export function openCommand(
  model: ChainModel,
  folder: string,
  stageCount: number,
  settings: Partial<StageSettings> = {},
): OpenTokenEndpoint {
  const { runId, generation } = contractOf(0, stageCount, model.hiddenDim);
  const edgePlan = (edge: number): EdgePlan => {
    const {
      edgeId,
      maxExtent,
      alignment,
      capacity,
      producerNodeId: nodeId,
    } = contractOf(edge, stageCount, model.hiddenDim);
    const producer: EdgeEndpoint['endpoint'] =
      edge === 0
        ? { $case: 'orchestrator', value: { nodeId } }
        : { $case: 'stage', value: { nodeId, stageIndex: edge - 1 } };
    return {
      runId,
      edgeId,
      kind: edge === 0 ? EdgeKind.EDGE_KIND_TOKEN_IN : EdgeKind.EDGE_KIND_TOKEN_OUT,
      producer: { endpoint: producer },
      consumer: undefined,
      objectSpec: ObjectSpec.fromPartial({ maxExtent: BigInt(maxExtent), alignment }),
      ringSpec: RingSpec.fromPartial({ dataCapacity: BigInt(capacity) }),
    };
  };
  return OpenTokenEndpoint.fromPartial({
    runId,
    generation,
    tokenIn: edgePlan(0),
    tokenOut: edgePlan(stageCount),
    outboundSocket: socketOf(folder, 0),
    inboundSocket: socketOf(folder, stageCount),
    modelPath: model.modelPath,
    settings: StageSettings.fromPartial({ ...settingsOfChain, ...settings }),
  });
}
