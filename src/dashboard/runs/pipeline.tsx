import { Status } from '../parts/status.js';
import type { EdgeView, PipelineView, StageView } from './pipeline-view.js';

/** The way of a token: out of the token endpoint, through every stage, and back. */
export function Pipeline({ view }: { readonly view: PipelineView }) {
  return (
    <section aria-labelledby="pipeline" className="panel">
      <h2 id="pipeline">Pipeline</h2>
      <LayerStrip view={view} />
      <ol className="pipeline">
        <li className="stop endpoint">
          <div className="stop-head">
            <h3>Token endpoint</h3>
            <Status state={view.endpoint.state} />
          </div>
          <p className="quiet">{view.endpoint.text || 'prompts become tokens, tokens become text'}</p>
        </li>
        {view.stages.map((stage) => (
          <Stop key={stage.index} stage={stage} />
        ))}
      </ol>
    </section>
  );
}

function Stop({ stage }: { readonly stage: StageView }) {
  return (
    <>
      <Edge edge={stage.inbound} />
      <li className={`stop tone-edge-${stage.state.tone}`} data-stage={stage.index}>
        <div className="stop-head">
          <h3>Stage {stage.index}</h3>
          <Status state={stage.state} />
        </div>
        <p className="stop-node">
          <bdi>{stage.node}</bdi>
        </p>
        <p className="quiet">layers {stage.layers}</p>
        <p className="quiet">{stage.facts.join(' · ')}</p>
        <div className="stop-live">
          {stage.loading && <progress aria-label={`Stage ${stage.index} loads`} value={stage.loading.share} max={1} />}
          <p className="figure">{stage.loading?.text ?? stage.held}</p>
        </div>
        {stage.fault !== '' && <p className="tone-bad">{stage.fault}</p>}
      </li>
      {stage.outbound && <Edge edge={stage.outbound} isLast />}
    </>
  );
}

function Edge({ edge, isLast = false }: { readonly edge: EdgeView; readonly isLast?: boolean }) {
  return (
    <li className={isLast ? 'edge edge-last' : 'edge'} title={edge.shape}>
      <span className="edge-kind">{edge.kind}</span>
      <svg className="arrow" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true" focusable="false">
        <path d="M0 6h94" stroke="currentColor" strokeWidth="1.5" vectorEffect="non-scaling-stroke" fill="none" />
        <path d="M92 1.5 99 6l-7 4.5z" fill="currentColor" />
      </svg>
      <span className="edge-unit">{edge.unit}</span>
      <span className="edge-shape">{edge.shape}</span>
      {isLast && <span className="edge-back">back to the token endpoint</span>}
    </li>
  );
}

/** Which part of the model is where, to scale. */
function LayerStrip({ view }: { readonly view: PipelineView }) {
  const description = view.stages.map(({ index, layers, node }) => `stage ${index} on ${node} ${layers}`).join(', ');
  return (
    <figure className="strip">
      <div className="strip-bar" role="img" aria-label={`Layers: ${description}`}>
        {view.stages.map(({ index, share, node, state }) => (
          <span key={index} className={`strip-part tone-fill-${state.tone}`} style={{ flexGrow: share }} title={node}>
            {index}
          </span>
        ))}
      </div>
      <figcaption className="strip-scale" aria-hidden="true">
        <span>layer 0</span>
        <span>{view.layers}</span>
      </figcaption>
    </figure>
  );
}
