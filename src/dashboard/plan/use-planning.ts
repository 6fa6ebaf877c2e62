import { useState } from 'react';
import { useLocation } from 'wouter';
import {
  CreateRunRequest,
  type CreateRunResponse,
  type PlanRunResponse,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import type { PlanRequest } from '../../../gen/stageplane/v1/planner.js';
import { ApiError } from '../api/api-error.js';
import { orchestrator } from '../api/orchestrator.js';
import { useAction } from '../api/use-action.js';

/** A dry run, and what comes of it. */
interface Planned {
  readonly request: PlanRequest;
  /** Of the run that may be created from it: asked twice, it is created once (I9). */
  readonly requestId: string;
  readonly response: PlanRunResponse;
}

export type Planning = ReturnType<typeof usePlanning>;

/** The newest dry run, and the way on from it to a run. */
export function usePlanning() {
  const [, navigate] = useLocation();
  const [planned, setPlanned] = useState<Planned>();
  const { error, isBusy, act } = useAction();
  const show = (request: PlanRequest, response: PlanRunResponse) =>
    setPlanned({ request, requestId: newRequestId(), response });

  const plan = (request: PlanRequest) => act(async () => show(request, await orchestrator.planRun({ plan: request })));

  const create = ({ request, requestId, response }: Planned) =>
    act(async () => {
      const expectedPlanId = response.report?.selected?.planId;
      const asked = CreateRunRequest.fromPartial({ requestId, plan: request, expectedPlanId });
      const created = await orchestrator.createRun(asked);
      if (created.outcome?.$case === 'run') return navigate(`/runs/${created.outcome.value.runId}`);
      show(request, asDryRun(created));
      if (created.outcome?.$case === 'stale') throw new ApiError(200, 'STALE_PLAN', created.outcome.value.message);
    });

  return { planned, error, isBusy, plan, create };
}

/** What became of the pool since the plan was made. */
function asDryRun({ outcome, report }: CreateRunResponse): PlanRunResponse {
  const rejection =
    outcome?.$case === 'stale' ? outcome.value.rejection : outcome?.$case === 'rejection' ? outcome.value : undefined;
  return { outcome: rejection && { $case: 'rejection', value: rejection }, report };
}

/** `crypto.randomUUID` is only there over TLS and on this machine. */
function newRequestId(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
