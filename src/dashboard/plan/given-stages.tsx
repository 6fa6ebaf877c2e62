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
      {stages.map((stage, at) => (
        <StageRow
          // biome-ignore lint/suspicious/noArrayIndexKey: a stage is its index.
          key={at}
          index={at}
          stage={stage}
          names={names}
          needsLayers={hasLayers}
          onChange={(changed) => change(stages.with(at, changed))}
        />
      ))}
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

interface StageRowProps {
  readonly index: number;
  readonly stage: GivenStage;
  /** Of nodes, by their ids. */
  readonly names: Readonly<Record<string, string>>;
  readonly needsLayers: boolean;
  readonly onChange: (stage: GivenStage) => void;
}

function StageRow({ index, stage, names, needsLayers, onChange }: StageRowProps) {
  return (
    <div className="pair">
      <SelectField
        label={`Stage ${index} on`}
        options={names}
        id={`stage-${index}-node`}
        value={stage.node}
        onChange={(node) => onChange({ ...stage, node })}
      />
      <TextField
        label="Layers"
        placeholder="even share"
        pattern="[0-9]+-[0-9]+"
        required={needsLayers}
        id={`stage-${index}-layers`}
        value={stage.layers}
        onChange={(layers) => onChange({ ...stage, layers })}
      />
    </div>
  );
}

/** The first that has no stage yet. */
function nextNode(nodes: PoolFieldsProps['nodes'], stages: readonly GivenStage[]): string {
  const ids = nodes.map(({ nodeId }) => String(nodeId));
  return ids.find((id) => stages.every(({ node }) => node !== id)) ?? ids[0] ?? '';
}
