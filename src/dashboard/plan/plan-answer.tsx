import { MemoryBar } from '../parts/memory-bar.js';
import { Status } from '../parts/status.js';
import type { CandidateView, PlanView } from './plan-view.js';

/** What a dry run has found: the plan or why there is none, and every placement that was looked at. */
export function PlanAnswer({ view }: { readonly view: PlanView }) {
  return (
    <>
      <Outcome view={view} />
      <Notes title="Worth knowing" notes={view.warnings} />
      {view.candidates.length > 0 && (
        <section aria-labelledby="candidates">
          <h2 id="candidates">Placements that were looked at</h2>
          <ul className="candidates">
            {view.candidates.map((candidate) => (
              <Candidate key={candidate.name} candidate={candidate} />
            ))}
          </ul>
        </section>
      )}
      <Notes title="Nodes that were left out" notes={view.exclusions} />
    </>
  );
}

function Outcome({ view: { outcome, nearestMiss } }: { readonly view: PlanView }) {
  if (outcome.kind === 'rejected')
    return (
      <section className="panel fault" aria-labelledby="outcome">
        <h2 id="outcome">No plan</h2>
        <p className="fault-message">{outcome.message}</p>
        {outcome.violations.length > 1 && (
          <ul className="notes">
            {outcome.violations.map((violation) => (
              <li key={violation}>{violation}</li>
            ))}
          </ul>
        )}
        {nearestMiss !== '' && (
          <p>
            <b>Nearest miss:</b> {nearestMiss}
          </p>
        )}
        <p className="quiet">{outcome.reason}</p>
      </section>
    );
  return (
    <section className="panel" aria-labelledby="outcome">
      <h2 id="outcome">It fits</h2>
      <ul className="notes">
        {outcome.because.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
      <p className="quiet">{outcome.fidelity}</p>
      <p className="quiet">plan {outcome.planId.slice(0, 12)}</p>
    </section>
  );
}

function Candidate({ candidate }: { readonly candidate: CandidateView }) {
  const { name, state, isSelected, speed, stages, devices, reasons } = candidate;
  return (
    <li className={isSelected ? 'card candidate-selected' : 'card'}>
      <div className="card-head">
        <h3>{name}</h3>
        <Status state={state} />
      </div>
      {speed !== '-' && (
        <p>
          <span className="big-figure">{speed}</span> tokens/s <span className="quiet">{stages}</span>
        </p>
      )}
      {devices.map(({ title, full, parts }) => (
        <div className="device" key={title}>
          <p className="device-title">
            <bdi>{title}</bdi> <span className="figure">{full}</span>
          </p>
          <MemoryBar title={title} parts={parts} />
        </div>
      ))}
      {reasons.length > 0 && (
        <ul className="notes">
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
    </li>
  );
}

function Notes({ title, notes }: { readonly title: string; readonly notes: readonly string[] }) {
  if (notes.length === 0) return null;
  return (
    <section className="panel" aria-label={title}>
      <h2>{title}</h2>
      <ul className="notes">
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </section>
  );
}
