import type { ReactNode } from 'react';
import type { Node } from '../../../gen/stageplane/v1/node.js';
import { escapeControls } from '../../cli/format/escape.js';
import { layouts } from '../../core/catalogue/layouts.js';
import { enginesOf, objectives, type PlanForm } from './plan-form.js';

interface Props {
  readonly form: PlanForm;
  readonly nodes: readonly Node[];
  readonly onChange: (form: PlanForm) => void;
}

/** Everything that can be asked of a placement. What is left empty is the orchestrator's to choose. */
export function PlanFields({ form, nodes, onChange }: Props) {
  const text = (name: keyof PlanForm & string) => ({
    id: name,
    value: String(form[name]),
    onChange: ({ target }: { target: { value: string } }) => onChange({ ...form, [name]: target.value }),
  });
  const number = { type: 'text', inputMode: 'numeric', pattern: '[0-9]*', autoComplete: 'off' } as const;
  return (
    <>
      <Field id="model" label="Model">
        <input
          {...text('model')}
          required
          placeholder="/models/llama-3.1-8b-q4_k_m.gguf"
          spellCheck={false}
          autoComplete="off"
          aria-describedby="model-note"
          list="known-models"
        />
        <datalist id="known-models">
          {layouts.map(({ name, size }) => (
            <option key={`${name}:${size}`} value={`${name}:${size}`} />
          ))}
        </datalist>
      </Field>
      <p id="model-note" className="quiet figure">
        A GGUF file on the orchestrator's machine, of which each node reads its own copy. Or a well-known model, such as
        llama3.1:70b@q4_k_m, to see whether it would fit.
      </p>
      <Field id="objective" label="Objective">
        <select {...text('objective')}>
          {Object.entries(objectives).map(([value, { name }]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </Field>
      <div className="pair">
        <Field id="minStages" label="Stages at least">
          <input {...text('minStages')} {...number} />
        </Field>
        <Field id="maxStages" label="At most">
          <input {...text('maxStages')} {...number} />
        </Field>
        <Field id="context" label="Context, tokens">
          <input {...text('context')} {...number} placeholder="4096" />
        </Field>
        <Field id="sessions" label="Conversations">
          <input {...text('sessions')} {...number} placeholder="1" />
        </Field>
        <Field id="engine" label="Engine">
          <select {...text('engine')}>
            <option value="">default</option>
            {enginesOf(nodes).map((engine) => (
              <option key={engine}>{engine}</option>
            ))}
          </select>
        </Field>
        <Field id="fidelity" label="Fidelity">
          <select {...text('fidelity')}>
            <option value="fast">fast</option>
            <option value="exact">exact</option>
          </select>
        </Field>
      </div>
      <Field id="headroom" label="Leave free of each device, %">
        <input {...text('headroom')} {...number} placeholder="20" />
      </Field>
      <Check
        label="A smaller KV cache type may be chosen"
        isChecked={form.allowKvQuantisation}
        onChange={(allowKvQuantisation) => onChange({ ...form, allowKvQuantisation })}
      />
      {nodes.length > 0 && <ExcludedNodes form={form} nodes={nodes} onChange={onChange} />}
      <Field id="prompt" label="Prompt">
        <textarea {...text('prompt')} rows={2} aria-describedby="prompt-note" />
      </Field>
      <p id="prompt-note" className="quiet figure">
        With a prompt the run answers it and is done; without one it serves prompts until it is stopped.
      </p>
    </>
  );
}

function ExcludedNodes({ form, nodes, onChange }: Props) {
  return (
    <fieldset>
      <legend>Leave out</legend>
      {nodes.map(({ nodeId, name }) => {
        const id = String(nodeId);
        const others = form.excluded.filter((one) => one !== id);
        return (
          <Check
            key={id}
            label={escapeControls(name)}
            isChecked={form.excluded.includes(id)}
            onChange={(isChecked) => onChange({ ...form, excluded: isChecked ? [...others, id] : others })}
          />
        );
      })}
    </fieldset>
  );
}

function Field({ id, label, children }: { readonly id: string; readonly label: string; readonly children: ReactNode }) {
  return (
    <div>
      <label htmlFor={id}>{label}</label>
      {children}
    </div>
  );
}

interface CheckProps {
  readonly label: string;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

function Check({ label, isChecked, onChange }: CheckProps) {
  return (
    <label className="check">
      <input type="checkbox" checked={isChecked} onChange={({ target }) => onChange(target.checked)} />
      <bdi>{label}</bdi>
    </label>
  );
}
