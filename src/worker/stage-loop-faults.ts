import { randomUUID } from 'node:crypto';
import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import type { ObjectRecord } from './edge/object-record.js';
import type { StructuredStatus } from './engine/status.js';
import { type WorkerFault, workerFault } from './stage-fault.js';

/** The neighbour sent what makes no sense at this point of the session. */
export function edgeUseFault({ session, sequence }: ObjectRecord, problem: string): WorkerFault {
  const message = `object ${sequence} of session ${session} ${problem}: look for a defect in the stage before`;
  return workerFault(StageFaultReason.STAGE_FAULT_REASON_EDGE_PROTOCOL, message);
}

/** The engine refused a step, or failed in it. */
export function stepFault(object: ObjectRecord, { code, message }: StructuredStatus): WorkerFault {
  if (code !== 'INTERNAL') {
    return edgeUseFault(object, `was refused by the engine with ${code} (${message})`);
  }
  const incident = randomUUID().slice(0, 8);
  return workerFault(StageFaultReason.STAGE_FAULT_REASON_INTERNAL, `${message}; report it as incident ${incident}`);
}
