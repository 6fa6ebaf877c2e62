import { useCallback, useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { WatchRunResponse } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { type LoadProgress, type Run, RunPhase } from '../../../gen/stageplane/v1/run.js';
import { orchestrator } from '../api/orchestrator.js';
import { useAction } from '../api/use-action.js';
import { useMay } from '../api/use-may.js';
import { useResource } from '../api/use-resource.js';
import { useWatch } from '../api/use-watch.js';
import { EventList } from '../events/event-list.js';
import { type EventView, withEvent } from '../events/event-view.js';
import { ConfirmButton } from '../parts/confirm-button.js';
import { Loading, Problem } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { Status } from '../parts/status.js';
import { FaultPanel } from './fault-panel.js';
import { Pipeline } from './pipeline.js';
import { pipelineView } from './pipeline-view.js';
import { RunFacts } from './run-facts.js';
import { StageLogs } from './stage-logs.js';
import { runStateOf } from './states.js';

/** What no event tells, such as how much text is under way, is read this often. */
const EVERY_MILLIS = 2000;

/** One run: where its layers are, what each stage does, what happened, and why it ended. */
export function RunPage({ runId }: { readonly runId: string }) {
  const load = useCallback(() => orchestrator.run(runId), [runId]);
  const { data: run, error, refresh } = useResource(load, (known) => (isOver(known) ? undefined : EVERY_MILLIS));
  const { events, loading } = useRunWatch(runId, refresh);
  const picture = useMemo(() => run && pipelineView(run, loading), [run, loading]);
  if (!run || !picture)
    return (
      <Page title={`Run ${runId}`}>
        <Problem error={error} />
        {!error && <Loading />}
      </Page>
    );
  return (
    <Page title={`Run ${runId}`} aside={<Status state={runStateOf(run)} />}>
      <Problem error={error} />
      <Actions run={run} onDone={refresh} />
      {run.cause && <FaultPanel title="Why it ended" cause={run.cause} />}
      <RunFacts run={run} />
      <Pipeline view={picture} />
      <StageLogs runId={runId} isOver={isOver(run)} stages={picture.stages} />
      {run.lastCause && <FaultPanel title="Why the generation before ended" cause={run.lastCause} />}
      <section className="panel" aria-labelledby="timeline">
        <h2 id="timeline">What happened</h2>
        <EventList events={events} ofManyRuns={false} />
      </section>
    </Page>
  );
}

function isOver(run: Run | undefined): boolean {
  return run?.phase === RunPhase.RUN_PHASE_DONE;
}

/** The events of a run from its first on, and the progress of stages that load. */
function useRunWatch(runId: string, onCommit: () => void) {
  const [events, setEvents] = useState<readonly EventView[]>([]);
  const [loading, setLoading] = useState<ReadonlyMap<number, LoadProgress>>(new Map());
  useWatch(runId, {
    method: 'WatchRun',
    request: (bookmark) => ({ runId, afterRevision: bookmark ?? '0' }),
    onOpen: onCommit,
    onMessage: (json) => {
      const { update } = WatchRunResponse.fromJSON(json);
      if (update?.$case === 'event') setEvents((before) => withEvent(before, (json as { event: unknown }).event));
      else if (update?.$case === 'progress') onCommit();
      else if (update?.$case === 'loading') {
        const { stageIndex, progress } = update.value;
        if (progress) setLoading((before) => new Map(before).set(stageIndex, progress));
      }
    },
  });
  return { events, loading };
}

function Actions({ run, onDone }: { readonly run: Run; readonly onDone: () => void }) {
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
