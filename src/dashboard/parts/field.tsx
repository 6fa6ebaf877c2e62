import type { InputHTMLAttributes, ReactNode } from 'react';
import type { Bound } from './bound.js';

interface Labelled {
  readonly label: string;
  /** What there is to say beyond the label. */
  readonly note?: string;
}

type TextProps = Bound<string> &
  Labelled &
  Pick<InputHTMLAttributes<HTMLInputElement>, 'placeholder' | 'pattern' | 'inputMode' | 'required' | 'list'>;

export function TextField({ label, note, onChange, ...input }: TextProps) {
  return (
    <Field id={input.id} label={label} note={note}>
      <input
        {...input}
        autoComplete="off"
        spellCheck={false}
        aria-describedby={note && noteId(input.id)}
        onChange={({ target }) => onChange(target.value)}
      />
    </Field>
  );
}

/** A whole number from 0 on, or nothing. */
export function NumberField(props: TextProps) {
  return <TextField inputMode="numeric" pattern="[0-9]*" {...props} />;
}

type SelectProps<Value extends string> = Bound<Value> &
  Labelled & {
    /** What is shown for each value. */
    readonly options: Readonly<Record<Value, string>>;
  };

export function SelectField<Value extends string>({ label, id, value, onChange, options }: SelectProps<Value>) {
  return (
    <Field id={id} label={label}>
      <select id={id} value={value} onChange={({ target }) => onChange(target.value as Value)}>
        {Object.entries<string>(options).map(([name, shown]) => (
          <option key={name} value={name}>
            {shown}
          </option>
        ))}
      </select>
    </Field>
  );
}

export function LongTextField({ label, note, onChange, ...area }: Bound<string> & Labelled) {
  return (
    <Field id={area.id} label={label} note={note}>
      <textarea
        {...area}
        rows={2}
        aria-describedby={note && noteId(area.id)}
        onChange={({ target }) => onChange(target.value)}
      />
    </Field>
  );
}

export function CheckField({ label, id, value, onChange }: Bound<boolean> & Labelled) {
  return (
    <label className="check">
      <input id={id} type="checkbox" checked={value} onChange={({ target }) => onChange(target.checked)} />
      <bdi>{label}</bdi>
    </label>
  );
}

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly note?: string | undefined;
  readonly children: ReactNode;
}

function Field({ id, label, note, children }: FieldProps) {
  return (
    <div>
      <label htmlFor={id}>{label}</label>
      {children}
      {note !== undefined && (
        <p id={noteId(id)} className="figure">
          {note}
        </p>
      )}
    </div>
  );
}

function noteId(id: string): string {
  return `${id}-note`;
}
