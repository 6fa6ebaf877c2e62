import { installation } from '../../doctor/installation.js';
import type { Invocation } from '../command.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { installationView } from '../format/installation-view.js';

export async function showVersion({ values, output }: Invocation<{ readonly json: boolean }>): Promise<ExitCode> {
  const here = await installation();
  if (values.json) output.document(here);
  else output.print(installationView(here));
  return exitCode.ok;
}
