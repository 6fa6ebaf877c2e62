import { useCallback, useState } from 'react';
import { Link } from 'wouter';
import { orchestrator } from '../api/orchestrator.js';
import { useResource } from '../api/use-resource.js';
import { useWatch } from '../api/use-watch.js';
import { Empty, Loading, Problem } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { Status } from '../parts/status.js';
import { type RunRow, runRow } from './run-row.js';

const PAGE = 100;

/** Every run that is kept, newest first. */
export function RunsPage() {
  const [size, setSize] = useState(PAGE);
  const load = useCallback(() => orchestrator.runs(size), [size]);
  const { data, error, refresh } = useResource(load);
  useWatch('runs', {
    method: 'WatchEvents',
    request: (bookmark) => (bookmark === undefined ? { last: 0 } : { afterRevision: bookmark }),
    onMessage: (json) => 'progress' in (json as object) && refresh(),
  });
  return (
    <Page title="Runs">
      <Problem error={error} />
      {!data && !error && <Loading />}
      {data?.runs.length === 0 && (
        <Empty title="Nothing has been run yet">
          <p>
            <Link href="/plan">Plan a model</Link> over the pool, see whether it fits, and create the run from there.
          </p>
        </Empty>
      )}
      <ul className="rows">
        {data?.runs.map(runRow).map((run) => (
          <Row key={run.id} run={run} />
        ))}
      </ul>
      {data && data.nextPageToken !== '' && size < 1000 && (
        <button type="button" className="button" onClick={() => setSize(1000)}>
          Show older runs
        </button>
      )}
    </Page>
  );
}

function Row({ run }: { readonly run: RunRow }) {
  return (
    <li className="row" data-run={run.id}>
      <Link href={`/runs/${run.id}`} className="row-title">
        Run {run.id}
      </Link>
      <Status state={run.state} />
      <bdi className="row-main">{run.model}</bdi>
      <span className="quiet row-facts">
        {[run.mode, run.stages, run.generation, run.created].filter(Boolean).join(' · ')}
      </span>
      {run.cause !== '' && <span className="row-note tone-bad">{run.cause}</span>}
    </li>
  );
}
