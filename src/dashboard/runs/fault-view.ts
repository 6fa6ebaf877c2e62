import type { RunCause } from '../../../gen/stageplane/v1/run.js';
import { escapeControls } from '../../cli/format/escape.js';
import { label } from '../../cli/format/labels.js';

/** The first cause of a fault, in words that are safe to show. */
export interface FaultView {
  /** `worker of stage 1 on beta` */
  readonly where: string;
  /** `WORKER EXITED` */
  readonly reason: string;
  readonly message: string;
  readonly log: readonly string[];
}

export function faultView({ component, stageIndex, nodeName, nodeId, reason, message, logTail }: RunCause): FaultView {
  const stage = stageIndex === undefined ? '' : ` of stage ${stageIndex}`;
  const node = nodeName || (nodeId === undefined ? '' : `node ${nodeId}`);
  return {
    where: escapeControls(`${component || 'unknown part'}${stage}${node ? ` on ${node}` : ''}`),
    reason: label.faultReason(reason).replaceAll('_', ' ').toLowerCase(),
    message: escapeControls(message),
    log: logTail.map(escapeControls),
  };
}
