import { CheckField, NumberField, SelectField, TextField } from '../parts/field.js';
import { MoreFields } from '../parts/more-fields.js';
import { binding, type FieldsProps } from './plan-form.js';

const kvCacheTypes = { '': 'default', f16: 'f16', q8_0: 'q8_0', q4_0: 'q4_0' } as const;

/** How stages compute and what an answer is like, for who knows what each means. */
export function EngineFields(props: FieldsProps) {
  const bound = binding(props);
  return (
    <MoreFields summary="Engine and answers">
      <div className="pair">
        <SelectField label="KV cache type" options={kvCacheTypes} {...bound('kvCacheType')} />
        <NumberField label="Threads of a stage" {...bound('threads')} />
        <NumberField label="Rows of a step" placeholder="128" {...bound('microBatch')} />
        <NumberField label="Tokens of an answer" {...bound('maxTokens')} />
        <TextField
          label="Temperature"
          placeholder="0"
          inputMode="decimal"
          pattern="[0-9]*\.?[0-9]*"
          {...bound('temperature')}
        />
      </div>
      <CheckField label="Flash attention" {...bound('flashAttention')} />
    </MoreFields>
  );
}
