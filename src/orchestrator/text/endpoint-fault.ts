import { type StageFault, StageFaultReason } from '../../../gen/stageplane/v1/run.js';
import { TextRefusalReason, type TextRefused } from '../../../gen/stageplane/v1/token_endpoint.js';

type ReasonName = keyof typeof StageFaultReason extends infer Key
  ? Key extends `STAGE_FAULT_REASON_${infer Name}`
    ? Name
    : never
  : never;

/** A fault of a run's token endpoint. */
export function endpointFault(reason: ReasonName, message: string, logTail: readonly string[] = []): StageFault {
  return { reason: StageFaultReason[`STAGE_FAULT_REASON_${reason}`], message, logTail: [...logTail] };
}

/** Why the prompt of a ONE_SHOT run cannot be answered. */
export function promptFault({ reason, message }: TextRefused): StageFault {
  const isOurs = reason === TextRefusalReason.TEXT_REFUSAL_REASON_NOT_READY;
  return endpointFault(isOurs ? 'TOKEN_ENDPOINT_LOST' : 'PROMPT_REFUSED', message);
}
