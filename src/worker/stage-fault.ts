import { randomUUID } from 'node:crypto';
import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { limits } from '../core/limits.js';

/** A fault as the worker tells it; the agent adds the end of the log. */
export interface WorkerFault {
  readonly reason: StageFaultReason;
  /** At most `limits.faultMessageBytes`. */
  readonly message: string;
}

export function workerFault(reason: StageFaultReason, message: string): WorkerFault {
  const bytes = Buffer.from(message);
  if (bytes.length <= limits.faultMessageBytes) return { reason, message };
  // A cut inside a character leaves a replacement character, which is dropped.
  const kept = bytes
    .subarray(0, limits.faultMessageBytes - 3)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
  return { reason, message: `${kept}...` };
}

/** The fault of a defect: the sentence has an id, and the log has the same id beside the stack. */
export function defectFault(what: string): WorkerFault & { incident: string } {
  const incident = randomUUID().slice(0, 8);
  const message = `${what} because of a defect; look for incident ${incident} in the worker's log and report it`;
  return { ...workerFault(StageFaultReason.STAGE_FAULT_REASON_INTERNAL, message), incident };
}
