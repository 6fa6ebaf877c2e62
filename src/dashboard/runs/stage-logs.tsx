import { useCallback, useState } from 'react';
import { orchestrator } from '../api/orchestrator.js';
import { useMay } from '../api/use-may.js';
import { useResource } from '../api/use-resource.js';
import { LogLines } from '../parts/log-lines.js';
import { Loading, Problem } from '../parts/notice.js';
import type { StageView } from './pipeline-view.js';
import { stageLogView } from './stage-log-view.js';

/** No commit tells that a worker has written a line. */
const EVERY_MILLIS = 2000;

interface Props {
  readonly runId: string;
  readonly isOver: boolean;
  readonly stages: readonly Pick<StageView, 'index' | 'node'>[];
}

/** The last lines that each stage's worker has written, read while somebody looks at them. */
export function StageLogs({ stages, ...run }: Props) {
  const may = useMay();
  if (!may('GetStageLog')) return null;
  return (
    <section className="panel" aria-labelledby="logs">
      <h2 id="logs">Logs</h2>
      {stages.map((stage) => (
        <StageLog key={stage.index} stage={stage} {...run} />
      ))}
    </section>
  );
}

interface StageLogProps extends Pick<Props, 'runId' | 'isOver'> {
  readonly stage: Props['stages'][number];
}

function StageLog({ stage: { index, node }, ...run }: StageLogProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Stage {index} on <bdi>{node}</bdi>
      </summary>
      {isOpen && <Lines index={index} {...run} />}
    </details>
  );
}

function Lines({ runId, isOver, index }: Omit<Props, 'stages'> & { readonly index: number }) {
  const load = useCallback(() => orchestrator.stageLog(runId, index), [runId, index]);
  const { data, error } = useResource(load, () => (isOver ? undefined : EVERY_MILLIS));
  if (!data) return error ? <Problem error={error} /> : <Loading />;
  const { lines, note } = stageLogView(data);
  return (
    <>
      <Problem error={error} />
      {note !== '' && <p className="quiet">{note}</p>}
      {lines.length > 0 && <LogLines lines={lines} />}
    </>
  );
}
