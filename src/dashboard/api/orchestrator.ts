import {
  CreateRunRequest,
  CreateRunResponse,
  GetRunResponse,
  GetStageLogResponse,
  ListNodesResponse,
  ListRunsResponse,
  PlanRunRequest,
  PlanRunResponse,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import type { Run } from '../../../gen/stageplane/v1/run.js';
import { call, callOnce } from './call.js';

/** What the dashboard asks of the orchestrator. Every method throws ApiError. */
export const orchestrator = {
  async nodes(): Promise<ListNodesResponse> {
    return ListNodesResponse.fromJSON(await call('ListNodes', { pageSize: 1000 }));
  },
  async cordonNode(nodeId: string): Promise<void> {
    await call('CordonNode', { nodeId });
  },
  async uncordonNode(nodeId: string): Promise<void> {
    await call('UncordonNode', { nodeId });
  },
  /** Begins a drain, or gives it another deadline; it goes on by itself, and the node tells how far it is. */
  async drainNode(nodeId: string, deadlineMillis: string): Promise<void> {
    await callOnce('DrainNode', { nodeId, deadlineMillis });
  },
  async deleteNode(nodeId: string): Promise<void> {
    await call('DeleteNode', { nodeId });
  },
  async runs(pageSize: number): Promise<ListRunsResponse> {
    return ListRunsResponse.fromJSON(await call('ListRuns', { pageSize }));
  },
  async run(runId: string): Promise<Run> {
    return GetRunResponse.fromJSON(await call('GetRun', { runId })).run!;
  },
  async stopRun(runId: string): Promise<void> {
    await call('StopRun', { runId });
  },
  async deleteRun(runId: string): Promise<void> {
    await call('DeleteRun', { runId });
  },
  async stageLog(runId: string, stageIndex: number): Promise<GetStageLogResponse> {
    return GetStageLogResponse.fromJSON(await call('GetStageLog', { runId, stageIndex, maxLines: 200 }));
  },
  async planRun(request: PlanRunRequest): Promise<PlanRunResponse> {
    return PlanRunResponse.fromJSON(await call('PlanRun', PlanRunRequest.toJSON(request)));
  },
  async createRun(request: CreateRunRequest): Promise<CreateRunResponse> {
    return CreateRunResponse.fromJSON(await call('CreateRun', CreateRunRequest.toJSON(request)));
  },
};
