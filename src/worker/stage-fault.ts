import { randomUUID } from 'node:crypto';
import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { clipText } from '../core/clip-text.js';
import { limits } from '../core/limits.js';

/** A fault as the worker tells it; the agent adds the end of the log. */
export interface WorkerFault {
  readonly reason: StageFaultReason;
  /** At most `limits.faultMessageBytes`. */
  readonly message: string;
}

export function workerFault(reason: StageFaultReason, message: string): WorkerFault {
  const isLong = clipText(message, limits.faultMessageBytes).length < message.length;
  return { reason, message: isLong ? `${clipText(message, limits.faultMessageBytes - 3)}...` : message };
}

/** The fault of a defect: the sentence has an id, and the log has the same id beside the stack. */
export function defectFault(what: string): WorkerFault & { incident: string } {
  const incident = randomUUID().slice(0, 8);
  const message = `${what} because of a defect; look for incident ${incident} in the worker's log and report it`;
  return { ...workerFault(StageFaultReason.STAGE_FAULT_REASON_INTERNAL, message), incident };
}
