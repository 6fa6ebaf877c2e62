import { runAgent } from '../../agent/agent.js';
import { endWithStdin } from '../../process/ends-with-stdin.js';
import type { Invocation } from '../command.js';
import type { AgentValues } from '../commands/agent.js';
import { edgeFlags } from '../config/edge-settings.js';
import { openLogger } from '../daemon-logger.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { listenForInterrupts } from '../interrupts.js';
import { stopOnSignal } from '../stop-on-signal.js';

export async function agent({ values, output }: Invocation<AgentValues>): Promise<ExitCode> {
  const signals = listenForInterrupts(['SIGINT', 'SIGTERM']);
  const handle = runAgent({
    orchestrator: values.orchestrator,
    join: values.join,
    enroll: values.enroll,
    name: values.name,
    dataFolder: values.data,
    models: values.models,
    workerCommand: values.worker,
    warmWorkers: values.warmWorkers,
    nodeId: values.nodeId,
    rejoin: values.rejoin,
    memory: values.memory,
    labels: Object.fromEntries(values.label),
    workerLimits: { memory: values.workerMemoryLimit, openFiles: values.workerOpenFiles },
    stepDeadline: values.stepDeadline,
    edges: edgeFlags(values),
    logger: await openLogger(values.logLevel, values.json),
  });
  stopOnSignal(signals, () => handle.stop());
  endWithStdin(() => handle.stop());
  const end = await handle.done;
  if (end.kind === 'stopped') return exitCode.ok;
  const { message } = end;
  return output.fail({
    exitCode: exitCode.failure,
    code: 'FAILED_PRECONDITION',
    reason: 'REFUSED',
    message,
    violations: [],
  });
}
