import { defaultTimings } from '../../core/machine/timings.js';
import { startOrchestrator } from '../../orchestrator/orchestrator.js';
import type { Invocation } from '../command.js';
import type { OrchestratorValues } from '../commands/orchestrator.js';
import { edgeFlags } from '../config/edge-settings.js';
import { openLogger } from '../daemon-logger.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { listenForInterrupts } from '../interrupts.js';
import { startFailure } from '../start-failure.js';
import { stopOnSignal } from '../stop-on-signal.js';

export async function orchestrator({ values, output }: Invocation<OrchestratorValues>): Promise<ExitCode> {
  const signals = listenForInterrupts(['SIGINT', 'SIGTERM']);
  const started = await startOrchestrator({
    listen: values.listen,
    dataFolder: values.data,
    models: values.models,
    insecure: values.insecure,
    edges: edgeFlags(values),
    timings: {
      heartbeat: values.heartbeat,
      lease: values.lease,
      grace: values.grace,
      graceAfterStart: values.startGrace,
      acknowledge: values.ackDeadline,
      load: values.loadDeadline,
      edges: values.edgeDeadline,
      stop: values.stopDeadline,
      cause: defaultTimings.cause,
    },
    logger: await openLogger(values.logLevel, values.json),
  }).catch((error: unknown) => startFailure(error));
  if ('exitCode' in started) return output.fail(started);

  const { address, adminSocket } = started;
  if (output.json) output.jsonLine({ address, adminSocket });
  else output.print(`orchestrator listening on ${address}, admin socket ${adminSocket}`);
  stopOnSignal(signals, () => void started.stop());
  const failure = await started.done.then(
    () => undefined,
    (error: unknown) => startFailure(error),
  );
  return failure ? output.fail(failure) : exitCode.ok;
}
