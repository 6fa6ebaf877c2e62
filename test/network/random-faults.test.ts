import { afterAll, expect, it } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunOutcome, RunPhase, StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { nodesReady } from '../../src/demo/wait-for.js';
import { unaryCall } from '../../src/grpc/client.js';
import { isAlive } from '../../src/process/descendants.js';
import { getRun } from '../support/running-orchestrator.js';
import { allStopped, connectedNodes, quickFlags, startNetworked, until } from './networked-cluster.js';
import { seeded } from './seeded.js';
import type { TcpProxy } from './tcp-proxy.js';

const { RUN_PHASE_RUNNING, RUN_PHASE_DONE } = RunPhase;

/** NETWORK_SEEDS=17,18 runs others. */
const seeds = (process.env.NETWORK_SEEDS ?? '1,2,3,4,5,6').split(',').map(Number);

const { cluster, networks } = await startNetworked(['alpha', 'beta'], quickFlags, afterAll);
afterAll(async () => expect(await cluster.end()).toEqual([]));
const { client } = cluster;

/** A slow link that breaks up to three times, each time in the middle of what it carries. */
function spoil(network: TcpProxy, random: (end: number) => number): void {
  network.latency = random(3) * 10;
  network.pieceBytes = 16 << random(8);
  let breaks = random(4);
  let pieces = 1 + random(12);
  network.onPiece = () => {
    pieces -= 1;
    if (breaks === 0 || pieces > 0) return;
    breaks -= 1;
    pieces = 1 + random(20);
    if (random(2) === 0) network.reset();
    else network.cut();
  };
}

function mend(network: TcpProxy): void {
  network.onPiece = () => {};
  network.latency = 0;
  network.pieceBytes = 64 * 1024;
}

/** A link may break before the request is there: then one node is missing, and comes back. */
async function createOnBoth(requestId: string): Promise<bigint> {
  for (;;) {
    try {
      return await cluster.create(requestId, 2);
    } catch (error) {
      if (!String(error).includes('2 stages need 2 nodes')) throw error;
      await nodesReady(client, 2);
    }
  }
}

const stagesBegun = () => [...networks.keys()].map((name) => cluster.workersOf(name).length);

it.each(seeds)(
  'seed %i: a run over links that break serves or says why not, and no stage starts twice (I3)',
  async (seed) => {
    const random = seeded(seed);
    await until(async () => (await connectedNodes(cluster)) === 2);
    await nodesReady(client, 2);
    const before = stagesBegun();
    for (const network of networks.values()) spoil(network, random);
    const runId = await createOnBoth(`seed ${seed}`);
    await until(async () => [RUN_PHASE_RUNNING, RUN_PHASE_DONE].includes((await getRun(client, runId)).phase));
    const run = await getRun(client, runId);
    if (run.phase === RUN_PHASE_DONE) {
      expect(run).toMatchObject({
        outcome: RunOutcome.RUN_OUTCOME_FAULTED,
        cause: { message: expect.stringMatching(/./), nodeName: expect.stringMatching(/alpha|beta/) },
      });
      expect(run.cause?.reason).not.toBe(StageFaultReason.STAGE_FAULT_REASON_UNSPECIFIED);
    }
    // Also the teardown has to find its way through what is left of the breaks.
    await unaryCall(client, Service.stopRun, { runId });
    await allStopped(cluster, runId);
    const begun = stagesBegun().map((count, at) => count - before[at]!);
    // I3: one generation, one stage on each node.
    expect(Math.max(...begun)).toBeLessThanOrEqual(1);
    if (run.phase === RUN_PHASE_RUNNING) expect(begun).toEqual([1, 1]);
    expect([...networks.keys()].flatMap((name) => cluster.workersOf(name)).filter(isAlive)).toEqual([]);
    for (const network of networks.values()) mend(network);
  },
);
