import { dirname } from 'node:path';
import type { Command } from '../../src/cli/command.js';
import { defaultDataFolder } from '../../src/cli/config/default-folder.js';
import type { Setting } from '../../src/cli/config/setting.js';
import { flagOf, variableOf } from '../../src/cli/config/setting-names.js';

/** The reference of every command's arguments, flags and variables, in Markdown. */
export function configurationPage(commands: readonly Command[]): string {
  const page = [preface, ...commands.map(section)].join('\n');
  // The same on every machine.
  return page.replaceAll(dirname(defaultDataFolder('agent')), '~/.local/state/stageplane');
}

const preface = `# Every setting

Written by \`npm run docs:config\` from what the commands declare; \`stageplane COMMAND --help\` says the same. A flag wins over its
environment variable, that one over the default; an empty variable counts as unset. A variable of a flag that may be repeated
has its values between commas. What belongs to one request has no variable.
`;

function section(command: Command): string {
  const operands = Object.values(command.operands).map(({ placeholder = '', description }) =>
    row([placeholder], description),
  );
  const flags = Object.entries(command.settings).map(([key, setting]) => flagRow(key, setting));
  const examples = command.examples.map((example) => `stageplane ${example}`);
  return `## stageplane ${command.name}

${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.

| flag | variable | default | |
|---|---|---|---|
${[...operands, ...flags].join('\n')}

\`\`\`sh
${examples.join('\n')}
\`\`\`
`;
}

function flagRow(
  key: string,
  { placeholder, description, fallback, environment, repeatable }: Setting<unknown>,
): string {
  const flag = [flagOf(key), placeholder].filter(Boolean).join(' ') + (repeatable ? ' ...' : '');
  return row([flag, environment ? variableOf(key) : '', fallback ?? ''], description);
}

/** @param codes the first columns, in the type of code */
function row(codes: readonly string[], description: string): string {
  const cells = [0, 1, 2].map((at) => (codes[at] ? `\`${codes[at]}\`` : ''));
  return `| ${[...cells, description].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
