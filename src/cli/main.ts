#!/usr/bin/env node
import { type Command as Commander, CommanderError } from 'commander';
import type { Command, Given } from './command.js';
import { type ExitCode, exitCode } from './exit-code.js';
import { hideSecrets } from './hide-secrets.js';
import { Output } from './output.js';
import { buildProgram } from './program.js';
import { unexpectedFailure } from './unexpected-failure.js';
import { usageFailure } from './usage-failure.js';

process.on('uncaughtException', (error) => process.exit(outputFor(asksForJson()).fail(unexpectedFailure(error))));
for (const stream of [process.stdout, process.stderr]) stream.on('error', leaveQuietly);
hideSecrets(process.argv.slice(2));
process.exitCode = await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<number> {
  let choice: { command: Command; given: Given } | undefined;
  const program = buildProgram((command, given) => {
    choice = { command, given };
  });
  try {
    program.parse(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return afterParsing(error, `${nameOfNamed(program, words)} --help`);
    throw error;
  }
  if (!choice) return exitCode.ok;
  const { command, given } = choice;
  const output = outputFor(given.flags.json === true);
  return command.perform(given, process.env, output).catch((error) => output.fail(unexpectedFailure(error)));
}

/** Commander ends by exceptions: after help as well as after words that it does not understand. */
function afterParsing({ code, message, exitCode: status }: CommanderError, help: string): ExitCode {
  if (status === 0) return exitCode.ok;
  // The help of a group that was named without a command is on stderr already.
  if (code === 'commander.help') return exitCode.usage;
  const [sentence = '', ...hints] = message.replace(/^error: /, '').split('\n');
  const text = [sentence.replace(/\.$/, ''), ...hints.map((hint) => hint.trim())].filter(Boolean).join(' ');
  return outputFor(asksForJson()).fail(usageFailure([{ field: '', message: `${text}; see ${help}` }]));
}

/** The command that the first words name, as far as they name one: `stageplane runs logs`. */
function nameOfNamed(program: Commander, [word, ...rest]: readonly string[]): string {
  const named = program.commands.find((command) => command.name() === word);
  return named ? `${program.name()} ${nameOfNamed(named, rest)}` : program.name();
}

function outputFor(json: boolean): Output {
  const { env, stdout } = process;
  // A terminal that does not know its own size, as in some containers, cannot be redrawn.
  const hasSize = stdout.isTTY === true && stdout.columns > 0 && stdout.rows > 0;
  const live = hasSize && !env.NO_COLOR && env.TERM !== 'dumb';
  return new Output(stdout, process.stderr, { json, terminal: stdout.isTTY === true, live });
}

/** For failures that come before the flags are understood. */
function asksForJson(): boolean {
  return process.argv.includes('--json');
}

/** Whoever read the output, such as `head`, has had enough. */
function leaveQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit();
  throw error;
}
