import { type StageFault, StageFaultReason } from '../../../../gen/stageplane/v1/run.js';
import { clipText } from '../../clip-text.js';
import { formatBytes } from '../../format-bytes.js';
import { limits } from '../../limits.js';
import type { StageKey } from '../state.js';
import type { WorkerExit, WorkerFailure } from './events.js';
import { stageLabel } from './state.js';

/** The fault of a worker that broke its side of the bargain. The one place of these sentences. */
export function failureFault(key: StageKey, failure: WorkerFailure, logTail: readonly string[]): StageFault {
  const worker = `the worker of ${stageLabel(key)}`;
  const fault = (reason: StageFaultReason, message: string): StageFault => ({ reason, message, logTail: [...logTail] });
  switch (failure.kind) {
    case 'start-failed':
      return fault(
        StageFaultReason.STAGE_FAULT_REASON_WORKER_START_FAILED,
        `${worker} could not be started as "${failure.command}" (${failure.why}): check the agent's --worker`,
      );
    case 'hello-missing':
      return fault(
        StageFaultReason.STAGE_FAULT_REASON_WORKER_START_FAILED,
        `${worker} did not say hello within ${seconds(failure.waited)}: look at its log`,
      );
    case 'line-broken':
      return fault(
        StageFaultReason.STAGE_FAULT_REASON_WORKER_PROTOCOL,
        `${worker} wrote to stdout a line that ${failure.problem}: only events belong there, logs go to stderr`,
      );
    case 'silent':
      return fault(
        StageFaultReason.STAGE_FAULT_REASON_WORKER_UNRESPONSIVE,
        `${worker} did not answer a health check within ${seconds(failure.waited)}: look at its log`,
      );
  }
}

/** The fault of a stage that this node cannot connect with its neighbours. */
export function edgesFault(node: string, key: StageKey, problem: string): StageFault {
  const message = `node "${node}" cannot open the edges of ${stageLabel(key)}: ${problem}`;
  return {
    reason: StageFaultReason.STAGE_FAULT_REASON_EDGE_UNREACHABLE,
    // A path may be of any length.
    message: clipText(message, limits.faultMessageBytes),
    logTail: [],
  };
}

/** The fault of a stage whose engine does not end its step, although its worker answers. */
export function stepFault(node: string, key: StageKey, busyMillis: bigint): StageFault {
  const what = `${stageLabel(key)} on node "${node}" has been at one micro-batch for ${seconds(Number(busyMillis))}`;
  const advice =
    "look at its log; if the machine is only slow, plan a smaller micro-batch or raise the agent's --step-deadline";
  return {
    reason: StageFaultReason.STAGE_FAULT_REASON_STEP_DEADLINE,
    message: `${what}: ${advice}`,
    logTail: [],
  };
}

/** The fault of a worker that ended by itself. */
export function exitFault(key: StageKey, exit: WorkerExit, logTail: readonly string[]): StageFault {
  const how = exit.signal === null ? `exited with code ${exit.code ?? 'unknown'}` : `was ended by ${exit.signal}`;
  return {
    reason: StageFaultReason.STAGE_FAULT_REASON_WORKER_EXITED,
    message: `the worker of ${stageLabel(key)} ${how}: ${exitHint(exit)}`,
    logTail: [...logTail],
  };
}

function exitHint({ signal, memoryLimit }: WorkerExit): string {
  // The kernel's answer to a machine without memory is exactly this signal, and nobody else sends it to a worker.
  if (signal === 'SIGKILL') return "see whether the machine's memory ran out";
  if (memoryLimit === undefined) return 'look at its log';
  const limit = formatBytes(memoryLimit);
  return `look at its log, and whether it needs more memory than the agent's --worker-memory-limit of ${limit}`;
}

function seconds(millis: number): string {
  return `${millis / 1000} s`;
}
