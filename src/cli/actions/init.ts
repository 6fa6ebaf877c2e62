import { initialise } from '../../orchestrator/initialise.js';
import type { Invocation } from '../command.js';
import type { InitValues } from '../commands/access.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { escapeControls } from '../format/escape.js';

export async function init({ values, output }: Invocation<InitValues>): Promise<ExitCode> {
  const { data, name, caCert, caKey, force } = values;
  const ownCa = caCert === undefined || caKey === undefined ? undefined : { certificate: caCert, key: caKey };
  const done = await initialise({ dataFolder: data, names: name, force, ownCa });
  if (done.kind === 'refused') {
    const { reason, message } = done;
    const constant = reason.replace(/-/g, '_').toUpperCase();
    const code = 'FAILED_PRECONDITION';
    return output.fail({ exitCode: exitCode.failure, code, reason: constant, message, violations: [] });
  }
  const { caDigest, hosts, replaced } = done;
  if (output.json) output.document({ data, caDigest, hosts, ...(replaced !== undefined && { replaced }) });
  else {
    output.print(`the CA of ${escapeControls(data)} is ${caDigest}`);
    output.print(`the orchestrator is known as ${escapeControls(hosts.join(', '))}`);
    if (replaced !== undefined) output.print(`kept of before: ${escapeControls(replaced)}`);
    output.print(
      'next: start `stageplane orchestrator`, then `stageplane token create` here for each machine that shall join',
    );
  }
  return exitCode.ok;
}
