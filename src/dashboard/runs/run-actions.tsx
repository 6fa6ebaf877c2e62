import { Link, useLocation } from 'wouter';
import type { Run } from '../../../gen/stageplane/v1/run.js';
import { orchestrator } from '../api/orchestrator.js';
import { useAction } from '../api/use-action.js';
import { useMay } from '../api/use-may.js';
import { ConfirmButton } from '../parts/confirm-button.js';
import { Problem } from '../parts/notice.js';
import { isOver } from './states.js';

/** Stopping a run, and forgetting it once it is over, for who may. */
export function RunActions({ run, onDone }: { readonly run: Run; readonly onDone: () => void }) {
  const may = useMay();
  const [, navigate] = useLocation();
  const { error, act } = useAction();
  const runId = String(run.runId);
  return (
    <div className="actions">
      <Link href="/runs">All runs</Link>
      {!isOver(run) && may('StopRun') && (
        <ConfirmButton
          label="Stop run"
          question="Its stages are ended and their memory is free again."
          onConfirm={() => act(() => orchestrator.stopRun(runId).then(onDone))}
        />
      )}
      {isOver(run) && may('DeleteRun') && (
        <ConfirmButton
          label="Forget run"
          question="Its events and its answer go with it."
          onConfirm={() => act(() => orchestrator.deleteRun(runId).then(() => navigate('/runs')))}
        />
      )}
      <Problem error={error} />
    </div>
  );
}
