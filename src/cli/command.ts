import { type Environment, resolveOperands, resolveSettings } from './config/resolve-settings.js';
import type { Settings, Values } from './config/setting.js';
import type { Violation } from './failure.js';
import type { Output } from './output.js';
import { usageFailure } from './usage-failure.js';

/** What an action gets: everything read and checked. */
export interface Invocation<V> {
  readonly values: V;
  readonly output: Output;
}

/** Gives the exit code. */
export type Action<V> = (invocation: Invocation<V>) => Promise<number>;

/** What a command is called and takes. Light: what it does is loaded when it is called. */
export interface CommandParts<S extends Settings, O extends Settings> {
  /** Words on the command line, such as `runs list`. */
  readonly name: string;
  readonly summary: string;
  readonly settings: S;
  /** Arguments without a flag, in order. */
  readonly operands: O;
  /** Without the leading `stageplane`. */
  readonly examples: readonly string[];
  /** What is wrong with values that are right one by one; those that could not be read are absent. */
  readonly check?: (values: Partial<Values<S & O>>) => readonly Violation[];
  readonly load: () => Promise<Action<Values<S & O>>>;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly settings: Settings;
  readonly operands: Settings;
  readonly examples: readonly string[];
  /** Reads what was given, reports everything that is wrong with it, or else does it. */
  perform(given: Given, environment: Environment, output: Output): Promise<number>;
}

export interface Given {
  readonly flags: Readonly<Record<string, unknown>>;
  /** One entry per operand; a list for one that may be repeated. */
  readonly operands: readonly unknown[];
}

export function defineCommand<S extends Settings, O extends Settings>(parts: CommandParts<S, O>): Command {
  const { settings, operands, check, load } = parts;
  return {
    ...parts,
    perform: async (given, environment, output) => {
      const flags = resolveSettings(settings, given.flags, environment);
      const rest = resolveOperands(operands, given.operands);
      const values = { ...flags.values, ...rest.values } as Partial<Values<S & O>>;
      const problems = [...rest.problems, ...flags.problems, ...(check?.(values) ?? [])];
      if (problems.length > 0) return output.fail(usageFailure(problems));
      const action = await load();
      return action({ values: values as Values<S & O>, output });
    },
  };
}
