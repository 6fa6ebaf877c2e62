import type { Violation } from '../failure.js';
import type { Setting, Settings, Values } from './setting.js';
import { flagOf, variableOf } from './setting-names.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Resolved<S extends Settings> {
  /** What could be read; a key whose text could not be is absent. */
  readonly values: Partial<Values<S>>;
  /** All that is wrong, so that one attempt shows everything. */
  readonly problems: readonly Violation[];
}

/**
 * Flags first, then the environment, then fallbacks.
 *
 * @param given what the command line says, by key: a text, texts, or true for a switch
 */
export function resolveSettings<S extends Settings>(
  settings: S,
  given: Readonly<Record<string, unknown>>,
  environment: Environment,
): Resolved<S> {
  const values: Record<string, unknown> = {};
  const problems: Violation[] = [];
  for (const [key, setting] of Object.entries(settings)) {
    const { field, texts } = sourceOf(key, setting, given[key], environment);
    const read = setting.read(texts);
    problems.push(...read.problems.map((message) => ({ field, message })));
    if (read.problems.length === 0) values[key] = read.value;
  }
  return { values: values as Partial<Values<S>>, problems };
}

function sourceOf(key: string, setting: Setting<unknown>, given: unknown, environment: Environment) {
  if (given !== undefined) return { field: flagOf(key), texts: [given].flat().map(String) };
  const text = setting.environment ? environment[variableOf(key)] : undefined;
  // An empty variable is the shell's way to say "unset".
  if (text) return { field: variableOf(key), texts: setting.repeatable ? text.split(',') : [text] };
  return { field: flagOf(key), texts: setting.fallback === undefined ? [] : [setting.fallback] };
}

/** The same for arguments without a flag: one entry of `given` per operand, in order. */
export function resolveOperands<S extends Settings>(operands: S, given: readonly unknown[]): Resolved<S> {
  const values: Record<string, unknown> = {};
  const problems: Violation[] = [];
  for (const [at, [key, operand]] of Object.entries(operands).entries()) {
    const read = operand.read([given[at] ?? []].flat().map(String));
    problems.push(...read.problems.map((message) => ({ field: operand.placeholder ?? key, message })));
    if (read.problems.length === 0) values[key] = read.value;
  }
  return { values: values as Partial<Values<S>>, problems };
}
