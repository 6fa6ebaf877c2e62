/** What became of one text. */
export type Reading<T> =
  | { readonly kind: 'read'; readonly value: T }
  /** `problem` goes on after the quoted text: `is no duration; write one such as 5s`. */
  | { readonly kind: 'refused'; readonly problem: string };

export type Reader<T> = (text: string) => Reading<T>;

export interface SettingParts {
  /** What the flag takes, such as `<duration>`; absent for a switch. */
  readonly placeholder?: string;
  readonly description: string;
  /** Used when nothing is given; `--help` shows it. */
  readonly fallback?: string;
  /** Whether STAGEPLANE_<NAME> may set it: what belongs to a machine may, what belongs to one request may not. */
  readonly environment?: boolean;
}

/** One flag of a command. Its name comes from its key: `ackDeadline` is `--ack-deadline`. */
export interface Setting<T> extends SettingParts {
  readonly repeatable: boolean;
  /** Reads one text per value; the texts are empty when nothing was given and there is no fallback. */
  readonly read: (texts: readonly string[]) => { readonly value: T; readonly problems: readonly string[] };
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;
export type Values<S extends Settings> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

/** A flag with a value; the fallback goes through the same reader. */
export function required<T>(reader: Reader<T>, parts: SettingParts & { readonly fallback: string }): Setting<T> {
  return optional(reader, parts) as Setting<T>;
}

/** A flag with a value that may be absent. */
export function optional<T>(reader: Reader<T>, parts: SettingParts): Setting<T | undefined> {
  return {
    ...parts,
    repeatable: false,
    read: (texts) => {
      const { values, problems } = readEach(reader, texts.slice(-1));
      return { value: values[0], problems };
    },
  };
}

/** A flag that may be given more than once. */
export function list<T>(reader: Reader<T>, parts: SettingParts): Setting<readonly T[]> {
  return {
    ...parts,
    repeatable: true,
    read: (texts) => {
      const { values, problems } = readEach(reader, texts);
      return { value: values, problems };
    },
  };
}

/** A flag without a value. */
export function toggle(description: string, parts: Pick<SettingParts, 'environment'> = {}): Setting<boolean> {
  return {
    ...parts,
    description,
    repeatable: false,
    read: (texts) => {
      const { values, problems } = readEach(readSwitch, texts);
      return { value: values[0] ?? false, problems };
    },
  };
}

function readSwitch(text: string): Reading<boolean> {
  if (['true', '1', 'yes'].includes(text)) return { kind: 'read', value: true };
  if (['false', '0', 'no', ''].includes(text)) return { kind: 'read', value: false };
  return { kind: 'refused', problem: 'is neither true nor false' };
}

function readEach<T>(reader: Reader<T>, texts: readonly string[]) {
  const values: T[] = [];
  const problems: string[] = [];
  for (const text of texts) {
    const reading = reader(text);
    if (reading.kind === 'read') values.push(reading.value);
    else problems.push(`"${text}" ${reading.problem}`);
  }
  return { values, problems };
}

/** An argument without a flag; the command line always has it. */
export function operand<T>(reader: Reader<T>, parts: { placeholder: string; description: string }): Setting<T> {
  return optional(reader, parts) as Setting<T>;
}

/** The last arguments without a flag, at least one. */
export function operands<T>(reader: Reader<T>, parts: { placeholder: string; description: string }) {
  return list(reader, parts);
}
