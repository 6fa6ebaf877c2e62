import { addServerNames } from '../../orchestrator/add-server-names.js';
import { initialise } from '../../orchestrator/initialise.js';
import type { Invocation } from '../command.js';
import type { InitValues } from '../commands/access.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { escapeControls } from '../format/escape.js';
import type { Output } from '../output.js';

export async function init(invocation: Invocation<InitValues>): Promise<ExitCode> {
  const { values, output } = invocation;
  const { data, addName } = values;
  if (addName.length === 0) return begin(invocation);
  const done = await addServerNames(data, addName);
  if (done.kind === 'refused') return refuse(output, done);
  if (output.json) output.document({ data, hosts: done.hosts });
  else {
    printHosts(output, done.hosts);
    output.print('next: start `stageplane orchestrator`; whoever has joined needs to do nothing');
  }
  return exitCode.ok;
}

async function begin({ values, output }: Invocation<InitValues>): Promise<ExitCode> {
  const { data, name, caCert, caKey, force } = values;
  const ownCa = caCert === undefined || caKey === undefined ? undefined : { certificate: caCert, key: caKey };
  const done = await initialise({ dataFolder: data, names: name, force, ownCa });
  if (done.kind === 'refused') return refuse(output, done);
  const { caDigest, hosts, replaced } = done;
  if (output.json) output.document({ data, caDigest, hosts, ...(replaced !== undefined && { replaced }) });
  else {
    output.print(`the CA of ${escapeControls(data)} is ${caDigest}`);
    printHosts(output, hosts);
    if (replaced !== undefined) output.print(`kept of before: ${escapeControls(replaced)}`);
    output.print(
      'next: start `stageplane orchestrator`, then `stageplane token create` here for each machine that shall join',
    );
  }
  return exitCode.ok;
}

function printHosts(output: Output, hosts: readonly string[]): void {
  output.print(`the orchestrator is known as ${escapeControls(hosts.join(', '))}`);
}

function refuse(output: Output, { reason, message }: { readonly reason: string; readonly message: string }): ExitCode {
  const constant = reason.replace(/-/g, '_').toUpperCase();
  return output.fail({
    exitCode: exitCode.failure,
    code: 'FAILED_PRECONDITION',
    reason: constant,
    message,
    violations: [],
  });
}
