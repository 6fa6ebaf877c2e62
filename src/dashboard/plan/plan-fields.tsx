import type { Node } from '../../../gen/stageplane/v1/node.js';
import { escapeControls } from '../../cli/format/escape.js';
import { layouts } from '../../core/catalogue/layouts.js';
import { LongTextField, NumberField, SelectField, TextField } from '../parts/field.js';
import { BoundFields } from './bound-fields.js';
import { EngineFields } from './engine-fields.js';
import { GivenStages } from './given-stages.js';
import { binding, type FieldsProps, placements } from './plan-form.js';

export interface PoolFieldsProps extends FieldsProps {
  readonly nodes: readonly Node[];
}

/** Everything that can be asked of a plan. What is left empty is the orchestrator's to choose. */
export function PlanFields({ nodes, ...props }: PoolFieldsProps) {
  const bound = binding(props);
  const isGiven = props.form.placement === 'given';
  return (
    <>
      <ModelField {...props} />
      <SelectField label="Placement" options={placements} {...bound('placement')} />
      {isGiven && <GivenStages nodes={nodes} {...props} />}
      <div className="pair">
        {!isGiven && <NumberField label="Stages at least" {...bound('minStages')} />}
        {!isGiven && <NumberField label="At most" {...bound('maxStages')} />}
        <NumberField label="Context, tokens" placeholder="4096" {...bound('context')} />
        <NumberField label="Conversations" placeholder="1" {...bound('sessions')} />
        <SelectField label="Engine" options={enginesOf(nodes)} {...bound('engine')} />
        <SelectField label="Fidelity" options={{ fast: 'fast', exact: 'exact' }} {...bound('fidelity')} />
      </div>
      <LongTextField
        label="Prompt"
        note="With a prompt the run answers it and is done; without one it serves prompts until it is stopped."
        {...bound('prompt')}
      />
      {!isGiven && <BoundFields nodes={nodes} {...props} />}
      <EngineFields {...props} />
    </>
  );
}

function ModelField(props: FieldsProps) {
  return (
    <>
      <TextField
        label="Model"
        required
        placeholder="/models/llama-3.1-8b-q4_k_m.gguf"
        note="A GGUF file on the orchestrator's machine, of which each node reads its own copy. Or a well-known model, such as llama3.1:70b@q4_k_m, to see whether it would fit."
        list="known-models"
        {...binding(props)('model')}
      />
      <datalist id="known-models">
        {layouts.map(({ name, size }) => (
          <option key={`${name}:${size}`} value={`${name}:${size}`} />
        ))}
      </datalist>
    </>
  );
}

/** Engines that any node offers. */
function enginesOf(nodes: readonly Node[]): Record<string, string> {
  const names = nodes.flatMap(({ engines }) => engines.map(({ name }) => name)).sort();
  return { '': 'default', ...Object.fromEntries(names.map((name) => [name, escapeControls(name)])) };
}
