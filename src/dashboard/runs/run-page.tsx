import { useCallback, useMemo } from 'react';
import { orchestrator } from '../api/orchestrator.js';
import { useResource } from '../api/use-resource.js';
import { EventList } from '../events/event-list.js';
import { Loading, Problem } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { Status } from '../parts/status.js';
import { FaultPanel } from './fault-panel.js';
import { Pipeline } from './pipeline.js';
import { pipelineView } from './pipeline-view.js';
import { RunActions } from './run-actions.js';
import { RunFacts } from './run-facts.js';
import { StageLogs } from './stage-logs.js';
import { isOver, runStateOf } from './states.js';
import { useRunWatch } from './use-run-watch.js';

/** What no event tells, such as how much text is under way, is read this often. */
const EVERY_MILLIS = 2000;

/** One run: where its layers are, what each stage does, what happened, and why it ended. */
export function RunPage({ runId }: { readonly runId: string }) {
  const load = useCallback(() => orchestrator.run(runId), [runId]);
  const {
    data: run,
    error,
    refresh,
  } = useResource(load, (known) => (known && isOver(known) ? undefined : EVERY_MILLIS));
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
      <RunActions run={run} onDone={refresh} />
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
