import { logVerbosity, setLogVerbosity } from '@grpc/grpc-js';
import { examine } from '../../doctor/examine.js';
import type { Invocation } from '../command.js';
import type { DoctorValues } from '../commands/doctor.js';
import { defaultDataFolder } from '../config/default-folder.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { examinationView } from '../format/examination-view.js';

export async function doctor({ values, output }: Invocation<DoctorValues>): Promise<ExitCode> {
  if (!process.env.GRPC_VERBOSITY) setLogVerbosity(logVerbosity.NONE);
  const { role, listen, orchestrator, credentials, models, data: dataFolder = defaultDataFolder(role) } = values;
  const examined = await examine({ role, dataFolder, listen, orchestrator, credentials, models });
  const checks = examined.map(({ name, finding: { kind, ...finding } }) => ({ name, result: kind, ...finding }));
  if (output.json) output.document({ role, dataFolder, checks });
  else output.print(examinationView(examined));
  return checks.some(({ result }) => result === 'failed') ? exitCode.failure : exitCode.ok;
}
