import { escapeControls } from '../../cli/format/escape.js';
import { SelectField, TextField } from '../parts/field.js';
import type { PoolFieldsProps } from './plan-fields.js';
import type { GivenStage } from './plan-form.js';

/** A node for each stage, in the order in which a token passes them, and its layers where they are not spread evenly. */
export function GivenStages({ nodes, form, onChange }: PoolFieldsProps) {
  const { stages } = form;
  const change = (next: readonly GivenStage[]) => onChange({ ...form, stages: next });
  const names = Object.fromEntries(nodes.map(({ nodeId, name }) => [String(nodeId), escapeControls(name)]));
  const hasLayers = stages.some(({ layers }) => layers !== '');
  return (
    <fieldset className="fields">
      <legend>Stages</legend>
      {stages.map((stage, at) => {
        const put = (changed: Partial<GivenStage>) => change(stages.with(at, { ...stage, ...changed }));
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a stage is its index.
          <div key={at} className="pair">
            <SelectField
              label={`Stage ${at} on`}
              options={names}
              id={`stage-${at}-node`}
              value={stage.node}
              onChange={(node) => put({ node })}
            />
            <TextField
              label="Layers"
              placeholder="even share"
              pattern="[0-9]+-[0-9]+"
              required={hasLayers}
              id={`stage-${at}-layers`}
              value={stage.layers}
              onChange={(layers) => put({ layers })}
            />
          </div>
        );
      })}
      <p className="figure">Layers as first-end, the end not included: 0-12, then 12-30. Give all or none.</p>
      <div className="actions">
        <button
          type="button"
          className="button"
          disabled={nodes.length === 0}
          onClick={() => change([...stages, { node: nextNode(nodes, stages), layers: '' }])}
        >
          Add a stage
        </button>
        {stages.length > 1 && (
          <button type="button" className="button" onClick={() => change(stages.slice(0, -1))}>
            Remove the last
          </button>
        )}
      </div>
    </fieldset>
  );
}

/** The first that has no stage yet. */
function nextNode(nodes: PoolFieldsProps['nodes'], stages: readonly GivenStage[]): string {
  const ids = nodes.map(({ nodeId }) => String(nodeId));
  return ids.find((id) => stages.every(({ node }) => node !== id)) ?? ids[0] ?? '';
}
