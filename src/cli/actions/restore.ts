import { restore } from '../../orchestrator/restore.js';
import type { Invocation } from '../command.js';
import type { RestoreValues } from '../commands/backup.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { escapeControls } from '../format/escape.js';

export async function restoreAction({ values, output }: Invocation<RestoreValues>): Promise<ExitCode> {
  const { file, data, force } = values;
  const done = restore(file, data, force);
  if (done.kind === 'refused') {
    const { reason, message } = done;
    const constant = reason.replace(/-/g, '_').toUpperCase();
    const code = 'FAILED_PRECONDITION';
    return output.fail({ exitCode: exitCode.failure, code, reason: constant, message, violations: [] });
  }
  const { revision, replaced } = done;
  if (output.json) output.document({ data, revision: String(revision), replaced });
  else {
    const before = replaced.map((path) => `\nkept of before: ${escapeControls(path)}`).join('');
    output.print(`revision ${revision} is in ${escapeControls(data)}: start the orchestrator there${before}`);
  }
  return exitCode.ok;
}
