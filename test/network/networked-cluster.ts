import { onTestFinished, vi } from 'vitest';
import { type Node, NodeConditionType } from '../../gen/stageplane/v1/node.js';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { StagePhase } from '../../gen/stageplane/v1/run.js';
import { nodesReady } from '../../src/demo/wait-for.js';
import { unaryCall } from '../../src/grpc/client.js';
import { Cluster, type ClusterOptions } from '../e2e/cluster.js';
import { getRun } from '../support/running-orchestrator.js';
import { TcpProxy } from './tcp-proxy.js';

/** Milliseconds after which either side asks whether the other is alive, and that the answer may take. */
const KEEPALIVE = 1000;

/** An orchestrator that looks often and waits briefly, but longer than a busy machine keeps a daemon waiting. */
export const quickFlags = ['--heartbeat', '200ms', '--grace', '3s', '--start-grace', '20s'];

export interface NetworkedCluster {
  readonly cluster: Cluster;
  /** The network of each agent, by its name. */
  readonly networks: ReadonlyMap<string, TcpProxy>;
}

/** Real daemons, each agent with a network of its own to the orchestrator. Gates are open. */
export async function startNetworked(
  names: readonly string[],
  flags: readonly string[] = quickFlags,
  finished: NonNullable<ClusterOptions['finished']> = onTestFinished,
): Promise<NetworkedCluster> {
  vi.stubEnv('STAGEPLANE_KEEPALIVE_MILLIS', String(KEEPALIVE));
  finished(() => void vi.unstubAllEnvs());
  const cluster = await Cluster.start([], { flags, finished });
  const networks = new Map<string, TcpProxy>();
  for (const name of names) {
    const network = await TcpProxy.open(cluster.address);
    finished(() => network.close());
    networks.set(name, network);
    cluster.startAgent(name, { orchestrator: network.address });
  }
  cluster.openGate();
  await nodesReady(cluster.client, names.length);
  return { cluster, networks };
}

/** Resolves when something is so; asks again and again. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 25));
}

/** How many nodes have an open session. */
export async function connectedNodes({ client }: Cluster): Promise<number> {
  const { nodes } = await unaryCall(client, Service.listNodes, { pageSize: 1000, pageToken: '' });
  const isConnected = ({ conditions }: Node) =>
    conditions.some(({ type, met }) => met && type === NodeConditionType.NODE_CONDITION_TYPE_CONNECTED);
  return nodes.filter(isConnected).length;
}

/** Resolves when each stage of a run is known to have stopped. */
export async function allStopped({ client }: Cluster, runId: bigint): Promise<void> {
  await until(async () => {
    const { stages } = await getRun(client, runId);
    return stages.every(({ phase }) => phase === StagePhase.STAGE_PHASE_STOPPED);
  });
}
