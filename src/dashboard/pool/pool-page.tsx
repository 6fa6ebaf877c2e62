import { orchestrator } from '../api/orchestrator.js';
import { useResource } from '../api/use-resource.js';
import { useWatch } from '../api/use-watch.js';
import { Command, Empty, Loading, Problem } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { NodeCard } from './node-card.js';
import { nodeView } from './node-view.js';

/** Heartbeats bring free memory every five seconds, and no commit tells of it. */
const EVERY_MILLIS = 5000;

/** The machines, what their memory is used for, and whether they take stages. */
export function PoolPage() {
  const { data, error, refresh } = useResource(orchestrator.nodes, () => EVERY_MILLIS);
  useWatch('nodes', {
    method: 'WatchNodes',
    request: () => ({}),
    // A bookmark ends what one commit has changed.
    onMessage: (json) => 'progress' in (json as object) && refresh(),
  });
  const nodes = data?.nodes.map((node) => nodeView(node, data.now ?? new Date())) ?? [];
  const ready = nodes.filter(({ state }) => state.word === 'schedulable').length;
  return (
    <Page
      title="Pool"
      aside={nodes.length > 0 && <p className="quiet">{`${ready} of ${nodes.length} nodes take stages`}</p>}
    >
      <Problem error={error} />
      {!data && !error && <Loading />}
      {data && nodes.length === 0 && (
        <Empty title="No machine has joined yet">
          <p>On each machine that is to hold stages, start an agent that knows this orchestrator:</p>
          <Command>{`stageplane agent --orchestrator ${location.hostname}:7070 --models ~/models`}</Command>
          <p>It appears here as soon as it is heard of.</p>
        </Empty>
      )}
      <ul className="cards">
        {nodes.map((node) => (
          <NodeCard key={node.id} node={node} onChange={refresh} />
        ))}
      </ul>
    </Page>
  );
}
