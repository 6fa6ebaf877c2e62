import type { Logger } from 'pino';
import { confineWorkers } from '../../agent/confine-workers.js';
import { defaultWorkerTimings } from '../../agent/worker-timings.js';
import { ORCHESTRATOR_NODE_ID } from '../../core/ids.js';
import type { ClusterEvent } from '../../core/machine/events.js';
import type { ClusterState, RunState } from '../../core/machine/state.js';
import { type EdgeFlags, openNodeGateway, removeOwnFolder } from '../../edge-gateway/open-node-gateway.js';
import { ownEdgeFolder, stageSocket } from '../../edge-gateway/runtime-folder.js';
import type { Credentials } from '../../pki/credential-folder.js';
import type { ModelLibrary } from '../model-library.js';
import { StartupError } from '../startup-error.js';
import { findTokenizer } from './find-tokenizer.js';
import type { EndpointSurroundings } from './run-endpoint.js';
import { EndpointProcesses, type TokenEndpoints } from './token-endpoints.js';

export interface DataPlaneOptions {
  readonly cluster: ClusterState;
  readonly flags: EdgeFlags;
  /** As which it takes part in edges, where nodes have certificates. */
  readonly credentials: Credentials | undefined;
  readonly library: ModelLibrary;
  readonly post: (event: ClusterEvent) => void;
  readonly followAnswer: EndpointSurroundings['followAnswer'];
  readonly logger: Logger;
}

export interface DataPlane {
  readonly endpoints: TokenEndpoints;
  /** Resolves when no process, connection or socket is left. */
  close(): Promise<void>;
}

/** Figures of an endpoint are for people who look now, and asking costs a line. */
const HEALTH_EVERY_MILLIS = 2_000;

/** The orchestrator as a node of the data plane: its edge gateway, and an endpoint per run. Rejects with StartupError. */
export async function openDataPlane(options: DataPlaneOptions): Promise<DataPlane> {
  const { cluster, flags, credentials, library, post, followAnswer, logger } = options;
  const { clusterId, epoch } = cluster;
  const nodeId = ORCHESTRATOR_NODE_ID;
  const opened = await openNodeGateway({
    flags,
    ownerId: clusterId,
    node: { clusterId, nodeId },
    credentials: credentials && (() => credentials),
    onNote: (sentence) => logger.info({ why: sentence }, 'edge gateway'),
  });
  if (opened.kind === 'refused') throw new StartupError(opened.reason, opened.message);
  const { gateway } = opened;
  const folder = ownEdgeFolder(clusterId);
  const inboundSocket = ({ runId, generation, stages }: RunState) =>
    stageSocket(folder, { runId, generation, stageIndex: stages.length });
  const endpoints = new EndpointProcesses(
    {
      gateway,
      nodeId,
      epoch,
      inboundSocket,
      followAnswer,
      findTokenizer: (run) => findTokenizer(library, run),
      host: {
        timings: { ...defaultWorkerTimings, healthEvery: HEALTH_EVERY_MILLIS },
        confinement: await confinement(),
      },
      logger,
    },
    post,
  );
  return {
    endpoints,
    close: async () => {
      await endpoints.stop();
      await gateway.close();
      removeOwnFolder(clusterId);
    },
  };
}

/** An endpoint ends with this process, however that ends (I18), and dumps no core. */
async function confinement(): Promise<readonly string[]> {
  const confined = await confineWorkers({});
  return confined.kind === 'ready' ? confined.words : [];
}
