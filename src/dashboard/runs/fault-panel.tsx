import type { RunCause } from '../../../gen/stageplane/v1/run.js';
import { LogLines } from '../parts/log-lines.js';
import { faultView } from './fault-view.js';

interface Props {
  readonly title: string;
  readonly cause: RunCause;
}

/** Why a run ended: the first cause, and the last lines of the log that travelled with it. */
export function FaultPanel({ title, cause }: Props) {
  const { where, reason, message, log } = faultView(cause);
  return (
    <section className="panel fault" aria-label={title}>
      <h2>{title}</h2>
      <p className="fault-message">{message}</p>
      <p className="quiet">
        {reason} · <bdi>{where}</bdi>
      </p>
      {log.length > 0 && (
        <details open>
          <summary>Last lines of its log</summary>
          <LogLines lines={log} />
        </details>
      )}
    </section>
  );
}
