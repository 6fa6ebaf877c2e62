import {
  type AdminServiceClient,
  type BackupProgress,
  BackupResponse,
  AdminServiceService as service,
} from '../../../gen/stageplane/v1/admin_service.js';
import { formatBytes } from '../../core/format-bytes.js';
import { limits } from '../../core/limits.js';
import { unaryCall } from '../../grpc/client.js';
import { RpcError } from '../../grpc/rpc-error.js';
import type { Invocation } from '../command.js';
import type { BackupValues } from '../commands/backup.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { escapeControls } from '../format/escape.js';
import { listenForInterrupts } from '../interrupts.js';
import type { Output } from '../output.js';
import { stopOnSignal } from '../stop-on-signal.js';
import { withAdmin } from '../with-admin.js';

export function backup({ values, output }: Invocation<BackupValues>): Promise<ExitCode> {
  const { file: path, force } = values;
  const interrupts = listenForInterrupts(['SIGINT', 'SIGTERM', 'SIGHUP']);
  stopOnSignal(interrupts, () => {});
  const signal = interrupts.first;
  return withAdmin(output, values.data, async (client) => {
    const showing = output.json ? undefined : showProgress(client, output);
    try {
      const deadlineMillis = limits.deadlineMillis;
      const made = await unaryCall(client, service.backup, { path, force }, { signal, deadlineMillis });
      if (output.json) output.document({ path, ...(BackupResponse.toJSON(made) as object) });
      else output.print(`backup of revision ${made.revision} in ${escapeControls(path)}, ${formatBytes(made.bytes)}`);
      return exitCode.ok;
    } catch (error) {
      if (signal.aborted && error instanceof RpcError) return exitCode.interrupted;
      throw error;
    } finally {
      clearInterval(showing);
    }
  });
}

/** A line per second, for a backup that takes seconds. */
function showProgress(client: AdminServiceClient, output: Output): NodeJS.Timeout {
  const show = async () => {
    const info = await unaryCall(client, service.getServerInfo, {}).catch(() => undefined);
    if (info?.backup && info.backup.bytesTotal > 0n) output.aside(progressLine(info.backup));
  };
  return setInterval(() => void show(), limits.progressLineMillis);
}

function progressLine({ bytesDone, bytesTotal }: BackupProgress): string {
  return `${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)} copied (${(bytesDone * 100n) / bytesTotal} %)`;
}
