import { userInfo } from 'node:os';
import { enrollAddressBeside } from '../../grpc/default-ports.js';
import { RpcError } from '../../grpc/rpc-error.js';
import { writeCredentials } from '../../pki/credential-folder.js';
import { clientFolder } from '../../pki/find-credentials.js';
import { join } from '../../pki/join.js';
import { parseToken } from '../../pki/join-token.js';
import { forgetJoiningKey, joiningKey } from '../../pki/joining-key.js';
import type { Invocation } from '../command.js';
import type { JoinValues } from '../commands/access.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { escapeControls } from '../format/escape.js';
import { rpcFailure } from '../rpc-failure.js';
import { usageFailure } from '../usage-failure.js';

export async function joinAction({ values, output }: Invocation<JoinValues>): Promise<ExitCode> {
  const token = parseToken(values.token);
  if (!token) {
    const message = 'the token is none, or was not copied as a whole: it begins with sp1 and has three parts';
    return output.fail(usageFailure([{ field: '', message }]));
  }
  const address = values.enroll ?? enrollAddressBeside(values.orchestrator);
  try {
    const defaultName =
      userInfo()
        .username.toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-|-$/g, '') || 'user';
    const folder = values.credentials ?? clientFolder(values.orchestrator);
    const key = () => joiningKey(folder, token);
    const { credentials, answer } = await join({
      address,
      token,
      name: values.name ?? '',
      defaultName,
      instanceId: '',
      key,
    });
    const problem = writeCredentials(folder, 'client', credentials);
    if (problem !== undefined) {
      const code = 'FAILED_PRECONDITION';
      return output.fail({ exitCode: exitCode.failure, code, reason: 'NOT_WRITTEN', message: problem, violations: [] });
    }
    forgetJoiningKey(folder);
    const { role, name } = answer;
    if (output.json) output.document({ role, name, folder });
    else {
      output.print(
        `${escapeControls(name)} is a ${role} at ${values.orchestrator}; the certificate is in ${escapeControls(folder)}`,
      );
      // It is found by the very words of the address.
      output.print(`next: \`stageplane runs list --orchestrator ${values.orchestrator}\``);
    }
    return exitCode.ok;
  } catch (error) {
    if (error instanceof RpcError) return output.fail(rpcFailure(error, address, 'name the right one with --enroll'));
    throw error;
  }
}
