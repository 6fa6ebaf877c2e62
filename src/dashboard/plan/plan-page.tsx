import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { CreateRunRequest, type PlanRunResponse } from '../../../gen/stageplane/v1/orchestrator_service.js';
import type { PlanReport, PlanRequest } from '../../../gen/stageplane/v1/planner.js';
import type { PlanRejection } from '../../../gen/stageplane/v1/rejection.js';
import { ApiError } from '../api/api-error.js';
import { orchestrator } from '../api/orchestrator.js';
import { useMay } from '../api/use-may.js';
import { useResource } from '../api/use-resource.js';
import { Empty, Problem } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { PlanAnswer } from './plan-answer.js';
import { PlanFields } from './plan-fields.js';
import { emptyForm, isReference, planRequestOf } from './plan-form.js';
import { planView } from './plan-view.js';

/** A dry run, and what comes of it. */
interface Planned {
  readonly request: PlanRequest;
  /** Of the run that may be created from it: asked twice, it is created once. */
  readonly requestId: string;
  readonly response: PlanRunResponse;
}

/** Whether a model fits, where, and why not; and the run that comes of it. */
export function PlanPage() {
  const may = useMay();
  const { data } = useResource(orchestrator.nodes);
  const nodes = data?.nodes ?? [];
  const [form, setForm] = useState(emptyForm);
  const { planned, error, isBusy, plan, create } = usePlanning();
  const answer = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (planned) answer.current?.focus();
  }, [planned]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void plan(planRequestOf(form));
  };
  const isPlan = planned?.response.outcome?.$case === 'plan';
  const hasFile = planned !== undefined && !isReference(planned.request);
  return (
    <Page title="Plan">
      <div className="plan">
        <form className="panel plan-form" onSubmit={submit} aria-label="What to plan">
          <PlanFields form={form} nodes={nodes} onChange={setForm} />
          <button type="submit" className="button button-main" disabled={isBusy}>
            Plan, and start nothing
          </button>
        </form>
        <div className="plan-result" ref={answer} tabIndex={-1} aria-live="polite">
          <Problem error={error} />
          {isPlan && !hasFile && (
            <p className="panel">
              To run it, name its GGUF file instead, and plan again: this was a look at the catalogue.
            </p>
          )}
          {isPlan && hasFile && may('CreateRun') && (
            <div className="actions">
              <button type="button" className="button button-main" disabled={isBusy} onClick={() => void create()}>
                Create this run
              </button>
              <span className="quiet">It is refused if it no longer fits by then.</span>
            </div>
          )}
          {planned && <PlanAnswer view={planView(planned.response, nodes)} />}
          {!planned && !error && (
            <Empty title="Would it fit?">
              <p>Name a model file: every placement over the pool is weighed, and nothing is started.</p>
            </Empty>
          )}
        </div>
      </div>
    </Page>
  );
}

function usePlanning() {
  const [, navigate] = useLocation();
  const [planned, setPlanned] = useState<Planned>();
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);

  const attempt = async (what: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    try {
      await what();
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  const plan = (request: PlanRequest) =>
    attempt(async () => {
      const response = await orchestrator.planRun({ plan: request });
      setPlanned({ request, requestId: newRequestId(), response });
    });
  const create = () =>
    attempt(async () => {
      if (!planned) return;
      const { request, requestId, response } = planned;
      const expectedPlanId = response.report?.selected?.planId;
      const asked = CreateRunRequest.fromPartial({ requestId, plan: request, expectedPlanId });
      const { outcome, report } = await orchestrator.createRun(asked);
      if (outcome?.$case === 'run') return navigate(`/runs/${outcome.value.runId}`);
      const rejection = outcome?.$case === 'stale' ? outcome.value.rejection : outcome?.value;
      setPlanned({ request, requestId: newRequestId(), response: answerOf(rejection, report) });
      if (outcome?.$case === 'stale') setError(new ApiError(200, 'STALE_PLAN', outcome.value.message));
    });
  return { planned, error, isBusy, plan, create };
}

function answerOf(rejection: PlanRejection | undefined, report: PlanReport | undefined): PlanRunResponse {
  return { outcome: rejection && { $case: 'rejection', value: rejection }, report };
}

/** `crypto.randomUUID` is only there over TLS and on this machine. */
function newRequestId(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
