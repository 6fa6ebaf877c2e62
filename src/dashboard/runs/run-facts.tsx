import type { Run } from '../../../gen/stageplane/v1/run.js';
import { runFacts } from './run-facts-view.js';

export function RunFacts({ run }: { readonly run: Run }) {
  return (
    <dl className="facts facts-wide">
      {runFacts(run).map(({ name, value }) => (
        <div key={name} className={value.length > 44 ? 'fact-long' : undefined}>
          <dt>{name}</dt>
          <dd>
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}
