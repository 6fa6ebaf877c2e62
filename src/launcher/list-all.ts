import type { Node } from '../../gen/stageplane/v1/node.js';
import {
  type OrchestratorServiceClient,
  OrchestratorServiceService as service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import type { RunSummary } from '../../gen/stageplane/v1/run.js';
import { limits } from '../core/limits.js';
import { unaryCall } from '../grpc/client.js';

/** Every node of the pool, by ascending id. */
export function listNodes(client: OrchestratorServiceClient): Promise<Node[]> {
  return everyPage(async (pageToken) => {
    const { nodes, nextPageToken } = await unaryCall(client, service.listNodes, {
      pageSize: limits.pageSize,
      pageToken,
    });
    return { entries: nodes, nextPageToken };
  });
}

/** Every run, newest first. */
export function listRuns(client: OrchestratorServiceClient, activeOnly: boolean): Promise<RunSummary[]> {
  return everyPage(async (pageToken) => {
    const request = { pageSize: limits.pageSize, pageToken, activeOnly };
    const { runs, nextPageToken } = await unaryCall(client, service.listRuns, request);
    return { entries: runs, nextPageToken };
  });
}

async function everyPage<T>(
  read: (pageToken: string) => Promise<{ entries: T[]; nextPageToken: string }>,
): Promise<T[]> {
  const all: T[] = [];
  let pageToken = '';
  do {
    const page = await read(pageToken);
    all.push(...page.entries);
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return all;
}
