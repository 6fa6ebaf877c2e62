import { Command as Commander, Option } from 'commander';
import { version } from '../version.js';
import type { Command, Given } from './command.js';
import { accessCommands } from './commands/access.js';
import { agentCommand } from './commands/agent.js';
import { auditCommands } from './commands/audit.js';
import { backupCommands } from './commands/backup.js';
import { demoCommand } from './commands/demo.js';
import { doctorCommand } from './commands/doctor.js';
import { healthCommand } from './commands/health.js';
import { inspectCommand } from './commands/inspect.js';
import { nodesCommands } from './commands/nodes.js';
import { orchestratorCommand } from './commands/orchestrator.js';
import { planCommand } from './commands/plan.js';
import { runCommand } from './commands/run.js';
import { runsCommands } from './commands/runs.js';
import { serverInfoCommand } from './commands/server.js';
import { textCommands } from './commands/text.js';
import { topCommand } from './commands/top.js';
import { upCommand } from './commands/up.js';
import { verifyCommand } from './commands/verify.js';
import { versionCommand } from './commands/version.js';
import type { Setting } from './config/setting.js';
import { flagOf, variableOf } from './config/setting-names.js';
import { exitCodeHelp } from './exit-code.js';

/** In the order of the help. */
export const commands: readonly Command[] = [
  upCommand,
  orchestratorCommand,
  agentCommand,
  inspectCommand,
  planCommand,
  runCommand,
  ...textCommands,
  verifyCommand,
  ...runsCommands,
  ...nodesCommands,
  topCommand,
  serverInfoCommand,
  ...backupCommands,
  ...accessCommands,
  ...auditCommands,
  healthCommand,
  doctorCommand,
  demoCommand,
  versionCommand,
];

const groupSummaries: Readonly<Record<string, string>> = {
  runs: 'look at runs and end them',
  nodes: 'look at nodes and keep stages away from them',
  server: 'look at the orchestrator of this machine',
  token: 'let machines and people in',
  key: 'let programs and people in over HTTP',
  cert: 'look at certificates and revoke them',
};

/**
 * The command line as commander knows it. It only takes the words apart: what they mean is read by the command.
 *
 * @param chosen called once with the command that was named
 */
export function buildProgram(chosen: (command: Command, given: Given) => void): Commander {
  const program = new Commander('stageplane')
    .version(version)
    .description('Run one large GGUF model across the machines you already have.')
    .addHelpText('afterAll', exitCodeHelp)
    .showSuggestionAfterError()
    .configureOutput({ outputError: () => {} })
    .exitOverride();
  for (const command of commands) addCommand(program, command, chosen);
  return program;
}

function addCommand(program: Commander, command: Command, chosen: (command: Command, given: Given) => void): void {
  const words = command.name.split(' ');
  const parent = words.length > 1 ? groupOf(program, words[0] ?? '') : program;
  const leaf = parent.command(words.at(-1) ?? '').summary(command.summary);
  leaf.description(`${capitalised(command.summary)}.`);
  for (const { placeholder = '', repeatable, description } of Object.values(command.operands)) {
    leaf.argument(repeatable ? placeholder.replace('>', '...>') : placeholder, description);
  }
  const isGreedy = Object.keys(command.operands).length === 0;
  for (const [key, setting] of Object.entries(command.settings)) leaf.addOption(optionOf(key, setting, isGreedy));
  const examples = command.examples.map((example) => `  stageplane ${example}\n`);
  leaf.addHelpText('after', `\n${examples.length === 1 ? 'Example' : 'Examples'}:\n${examples.join('')}`.trimEnd());
  leaf.action(() => chosen(command, { flags: leaf.opts(), operands: leaf.processedArgs }));
}

function groupOf(program: Commander, name: string): Commander {
  return (
    program.commands.find((command) => command.name() === name) ??
    program
      .command(name)
      .summary(groupSummaries[name] ?? '')
      .description(`${capitalised(groupSummaries[name] ?? '')}.`)
  );
}

/** A flag that takes every word up to the next flag would take an operand for one of them: there, one word at a time. */
function optionOf(key: string, setting: Setting<unknown>, isGreedy: boolean): Option {
  const { placeholder, repeatable, description, fallback, environment } = setting;
  const takes =
    placeholder === undefined ? '' : ` ${repeatable && isGreedy ? placeholder.replace('>', '...>') : placeholder}`;
  const hints = [
    ...(fallback === undefined ? [] : [`default: ${fallback}`]),
    ...(environment ? [`env: ${variableOf(key)}`] : []),
  ];
  const words = hints.length > 0 ? `${description} (${hints.join(', ')})` : description;
  const option = new Option(`${flagOf(key)}${takes}`, words);
  return repeatable && !isGreedy ? option.argParser((text, given: readonly string[] = []) => [...given, text]) : option;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
