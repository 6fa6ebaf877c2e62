import { type StageFault, StageFaultReason, type StageFootprint } from '../../gen/stageplane/v1/run.js';
import { clipText } from '../core/clip-text.js';
import { limits } from '../core/limits.js';

/** A worker's fault within the bounds of the wire. What it does not say of its log is added. */
export function boundedFault({ reason, message, logTail }: StageFault, ownTail: readonly string[]): StageFault {
  const lines = logTail.length > 0 ? logTail : ownTail;
  return {
    reason: reason || StageFaultReason.STAGE_FAULT_REASON_INTERNAL,
    message: clipText(message, limits.faultMessageBytes),
    logTail: lines.slice(-limits.logTailLines).map((line) => clipText(line, limits.logLineBytes)),
  };
}

export function boundedFootprint(footprint: StageFootprint): StageFootprint {
  return { ...footprint, bytesDigest: clipText(footprint.bytesDigest, limits.digestBytes) };
}
