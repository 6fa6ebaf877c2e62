import { useEffect, useState, useSyncExternalStore } from 'react';
import { Route, Switch } from 'wouter';
import { session } from './api/session.js';
import { EventsPage } from './events/events-page.js';
import { Frame } from './frame.js';
import { Loading } from './parts/notice.js';
import { Page } from './parts/page.js';
import { PlanPage } from './plan/plan-page.js';
import { PoolPage } from './pool/pool-page.js';
import { RunPage } from './runs/run-page.js';
import { RunsPage } from './runs/runs-page.js';
import { SignInPage } from './sign-in/sign-in-page.js';

const AGAIN_MILLIS = 2000;

/** Asks who sits here, and shows the page of the address, or the way to sign in. */
export function App() {
  const current = useSyncExternalStore(session.subscribe, session.current);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (session.current().kind !== 'unknown') return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    session.read().catch(() => {
      timer = setTimeout(() => setAttempt(attempt + 1), AGAIN_MILLIS);
    });
    return () => clearTimeout(timer);
  }, [attempt]);
  return (
    <Frame session={current}>
      {current.kind === 'unknown' && <Loading />}
      {current.kind === 'key-needed' && <SignInPage />}
      {current.kind === 'open' && <Pages />}
    </Frame>
  );
}

function Pages() {
  return (
    <Switch>
      <Route path="/" component={PoolPage} />
      <Route path="/runs" component={RunsPage} />
      <Route path="/runs/:runId">{({ runId }) => <RunPage key={runId} runId={runId} />}</Route>
      <Route path="/plan" component={PlanPage} />
      <Route path="/events" component={EventsPage} />
      <Route>
        <Page title="No such page">
          <p>Choose one above.</p>
        </Page>
      </Route>
    </Switch>
  );
}
