import { type FormEvent, useState } from 'react';
import { orchestrator } from '../api/orchestrator.js';
import { useResource } from '../api/use-resource.js';
import { Page } from '../parts/page.js';
import { PlanFields } from './plan-fields.js';
import { emptyForm } from './plan-form.js';
import { planRequestOf } from './plan-request.js';
import { PlanResult } from './plan-result.js';
import { usePlanning } from './use-planning.js';

/** Whether a model fits, where, and why not; and the run that comes of it. */
export function PlanPage() {
  const { data } = useResource(orchestrator.nodes);
  const nodes = data?.nodes ?? [];
  const [form, setForm] = useState(emptyForm);
  const planning = usePlanning();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void planning.plan(planRequestOf(form));
  };
  return (
    <Page title="Plan">
      <div className="plan">
        <form className="panel plan-form" onSubmit={submit} aria-label="What to plan">
          <PlanFields form={form} nodes={nodes} onChange={setForm} />
          <button type="submit" className="button button-main" disabled={planning.isBusy}>
            Plan, and start nothing
          </button>
        </form>
        <PlanResult planning={planning} nodes={nodes} />
      </div>
    </Page>
  );
}
