import { useEffect, useRef } from 'react';
import type { Node } from '../../../gen/stageplane/v1/node.js';
import { useMay } from '../api/use-may.js';
import { Empty, Problem } from '../parts/notice.js';
import { PlanAnswer } from './plan-answer.js';
import { isReference } from './plan-request.js';
import { planView } from './plan-view.js';
import type { Planning } from './use-planning.js';

interface Props {
  readonly planning: Planning;
  readonly nodes: readonly Node[];
}

/** What came of the newest dry run; it has the focus when it is there. */
export function PlanResult({ planning, nodes }: Props) {
  const { planned, error } = planning;
  const answer = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (planned) answer.current?.focus();
  }, [planned]);
  return (
    <div className="plan-result" ref={answer} tabIndex={-1} aria-live="polite">
      <Problem error={error} />
      <CreateRun planning={planning} />
      {planned && <PlanAnswer view={planView(planned.response, nodes)} />}
      {!planned && !error && (
        <Empty title="Would it fit?">
          <p>Name a model file: every placement over the pool is weighed, and nothing is started.</p>
        </Empty>
      )}
    </div>
  );
}

/** The way on from a plan. */
function CreateRun({ planning: { planned, isBusy, create } }: Pick<Props, 'planning'>) {
  const may = useMay();
  if (planned?.response.outcome?.$case !== 'plan') return null;
  if (isReference(planned.request)) {
    return (
      <p className="panel">To run it, name its GGUF file instead, and plan again: this was a look at the catalogue.</p>
    );
  }
  if (!may('CreateRun')) return null;
  return (
    <div className="actions">
      <button type="button" className="button button-main" disabled={isBusy} onClick={() => void create(planned)}>
        Create this run
      </button>
      <span className="quiet">It is refused if it no longer fits by then.</span>
    </div>
  );
}
