import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import type { EdgeGateway } from '../../src/edge-gateway/edge-gateway.js';
import type { StageEdges } from '../../src/edge-gateway/stage-edges.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { loadFixtureLayers } from '../../src/worker/engine/fixture/load-fixture-layers.js';
import { SessionEngine } from '../../src/worker/engine/session-engine.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { type ChainModel, contractOf, MICRO_BATCH, socketOf, stageCommand } from '../worker/edge/stage-chain.js';
import { TokenEndpoint } from '../worker/edge/token-endpoint.js';
import { generate, pipelineOf } from '../worker/engine/pipeline.js';
import { WorkerProcess, workerMain } from '../worker/worker-process.js';
import { openGateway, register, until } from './edge-ends.js';

const LAYERS = 3;
/** Node 1 is the token endpoint's, nodes 2 to 4 have a stage each. */
const NODES = [1n, 2n, 3n, 4n];

let folder: string;
let model: ChainModel;
beforeEach(async () => {
  folder = temporaryFolder();
  const [modelPath] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: LAYERS, hidden: 32 });
  model = { modelPath, totalLayers: LAYERS, hiddenDim: 32 };
});

/** What the node of edge `index`'s consumer was told; edge 0 goes into stage 0, and edge 3 back to the token endpoint. */
function edgesOf(inbound: number, outbound: number, nodeId: bigint): StageEdges {
  const [taken, given] = [inbound, outbound].map((edge) => contractOf(edge, LAYERS, model.hiddenDim));
  const { runId, generation } = taken!;
  const consumerNodeId = outbound === LAYERS ? 1n : BigInt(outbound + 2);
  return {
    runId,
    generation,
    nodeId,
    inbound: { edgeId: taken!.edgeId, producerNodeId: taken!.producerNodeId, socket: socketOf(folder, inbound) },
    outbound: { edgeId: given!.edgeId, consumerNodeId },
  };
}

async function openChain() {
  const template = `unix:${join(folder, '{node_id}.sock')}`;
  const gateways: EdgeGateway[] = [];
  for (const nodeId of NODES) {
    const listen = template.replace('{node_id}', `${nodeId}`);
    gateways.push((await openGateway(folder, `local-${nodeId}`, { listen, template })).gateway);
  }
  register(gateways[0]!, edgesOf(LAYERS, 0, 1n));
  const workers = gateways.slice(1).map((gateway, index) => {
    register(gateway, edgesOf(index, index + 1, NODES[index + 1]!));
    const worker = new WorkerProcess(workerMain);
    onTestFinished(() => void worker.child.kill('SIGKILL'));
    const command = stageCommand(model, { folder, index, stageCount: LAYERS, layers: [index, index + 1] });
    worker.send({ $case: 'prepare', value: { ...command, outboundSocket: gateway.localSocket } });
    return worker;
  });
  const tokenIn = { socket: gateways[0]!.localSocket, contract: contractOf(0, LAYERS, model.hiddenDim) };
  const tokenOut = { socket: socketOf(folder, LAYERS), contract: contractOf(LAYERS, LAYERS, model.hiddenDim) };
  const endpoint = await TokenEndpoint.open(tokenIn, tokenOut);
  onTestFinished(() => endpoint.close());
  await Promise.all(workers.map((worker) => worker.heard('ready')));
  return { gateways, workers, endpoint };
}

async function expected(prompt: readonly number[], count: number): Promise<number[]> {
  const recipe = { contextLength: 128, microBatch: MICRO_BATCH };
  const make = () => new SessionEngine(loadFixtureLayers);
  const [engine] = await pipelineOf(make, { path: model.modelPath, layers: LAYERS }, [], recipe);
  return generate([engine!], prompt, count);
}

test('three workers on three nodes say what the whole model says, and nothing is left when they end', async () => {
  const { gateways, workers, endpoint } = await openChain();
  const prompt = Array.from({ length: 30 }, (_, index) => (index * 37 + 5) % 256);
  await endpoint.prompt(1n, prompt, MICRO_BATCH);
  expect(await endpoint.follow(1n, 12)).toEqual(await expected(prompt, 12));
  for (const { figures } of gateways) expect(figures).toMatchObject({ spliced: 2, edges: 2 });
  for (const worker of workers) worker.send({ $case: 'stop', value: { reason: 'enough' } });
  await Promise.all(workers.map(({ ended }) => ended));
  endpoint.close();
  await until(() => gateways.every(({ figures }) => figures.spliced + figures.dialing === 0));
});

test('when a worker is killed, the workers of both neighbours say EDGE_CLOSED', async () => {
  const { workers } = await openChain();
  const [before, killed, after] = workers;
  killed!.child.kill('SIGKILL');
  const reason = StageFaultReason.STAGE_FAULT_REASON_EDGE_CLOSED;
  expect(await before!.heard('fault')).toMatchObject({ reason, message: expect.stringContaining('edge 2 of run 7') });
  expect(await after!.heard('fault')).toMatchObject({ reason, message: expect.stringContaining('edge 3 of run 7') });
});
