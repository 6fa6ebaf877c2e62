import { defaultTimings, type Timings } from '../../core/machine/timings.js';
import { httpAddressBeside } from '../../grpc/default-ports.js';
import { FAIL_POINT_VARIABLE, type FailPoint, readFailPoint } from '../../orchestrator/fail-point.js';
import { type Orchestrator, startOrchestrator } from '../../orchestrator/orchestrator.js';
import { endWithStdin } from '../../process/ends-with-stdin.js';
import type { Invocation } from '../command.js';
import type { OrchestratorValues } from '../commands/orchestrator.js';
import { edgeFlags } from '../config/edge-settings.js';
import { openLogger } from '../daemon-logger.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { listenForInterrupts } from '../interrupts.js';
import type { Output } from '../output.js';
import { startFailure } from '../start-failure.js';
import { stopOnSignal } from '../stop-on-signal.js';
import { usageFailure } from '../usage-failure.js';

export async function orchestrator({ values, output }: Invocation<OrchestratorValues>): Promise<ExitCode> {
  const failPoint = failPointOf(process.env[FAIL_POINT_VARIABLE]);
  if (typeof failPoint === 'string') return output.fail(usageFailure([{ field: '', message: failPoint }]));
  const logger = await openLogger(values.logLevel, values.json);
  if (failPoint)
    logger.warn(
      { why: `${FAIL_POINT_VARIABLE}=${process.env[FAIL_POINT_VARIABLE]}` },
      'THIS PROCESS WILL KILL ITSELF, as its environment says',
    );
  const signals = listenForInterrupts(['SIGINT', 'SIGTERM']);
  const started = await startOrchestrator({
    listen: values.listen,
    enrollListen: values.enrollListen,
    http: values.http === 'off' ? undefined : (values.http ?? httpAddressBeside(values.listen)),
    isHttpOptional: values.http === undefined,
    certificateLifetime: values.certificateLifetime,
    dataFolder: values.data,
    models: values.models,
    operatorModels: values.models.length > 0 ? values.models : [process.cwd()],
    insecure: values.insecure,
    trustNetwork: values.trustNetwork,
    edges: edgeFlags(values),
    timings: timingsOf(values),
    failPoint,
    logger,
  }).catch((error: unknown) => startFailure(error));
  if ('exitCode' in started) return output.fail(started);
  announce(output, started);
  stopOnSignal(signals, () => void started.stop());
  endWithStdin(() => void started.stop());
  const failure = await started.done.then(
    () => undefined,
    (error: unknown) => startFailure(error),
  );
  return failure ? output.fail(failure) : exitCode.ok;
}

function timingsOf(values: OrchestratorValues): Timings {
  return {
    heartbeat: values.heartbeat,
    lease: values.lease,
    grace: values.grace,
    graceAfterStart: values.startGrace,
    acknowledge: values.ackDeadline,
    load: values.loadDeadline,
    edges: values.edgeDeadline,
    stop: values.stopDeadline,
    cause: defaultTimings.cause,
  };
}

function announce(output: Output, { address, enrollAddress, httpUrl, adminSocket }: Orchestrator): void {
  const more = { ...(enrollAddress && { enrollAddress }), ...(httpUrl && { httpUrl }) };
  if (output.json) return output.jsonLine({ address, ...more, adminSocket });
  output.print(`orchestrator listening on ${address}, admin socket ${adminSocket}`);
  if (httpUrl) output.print(`dashboard and HTTP API on ${httpUrl}`);
  if (enrollAddress) output.print(`everyone shows a certificate; tokens are redeemed on ${enrollAddress}`);
}

/** For crash tests; no flag, so that nobody finds it by accident. A sentence when it cannot be read. */
function failPointOf(text: string | undefined): FailPoint | string | undefined {
  return text ? readFailPoint(text) : undefined;
}
