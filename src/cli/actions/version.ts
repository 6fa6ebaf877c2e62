import { version } from '../../version.js';
import type { Invocation } from '../command.js';
import { type ExitCode, exitCode } from '../exit-code.js';

export async function showVersion({ values, output }: Invocation<{ readonly json: boolean }>): Promise<ExitCode> {
  if (values.json) output.document({ version });
  else output.print(`stageplane ${version}`);
  return exitCode.ok;
}
