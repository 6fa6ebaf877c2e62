import type { RunCause } from '../../../gen/stageplane/v1/run.js';
import { escapeControls } from './escape.js';
import { label } from './labels.js';

/** Where and why a run faulted, on one line: `stage 1 on beta, worker: WORKER_EXITED: the worker ended by itself`. */
export function causeLine({ stageIndex, nodeName, nodeId, component, reason, message }: RunCause): string {
  const stage = stageIndex === undefined ? [] : [`stage ${stageIndex}`];
  const name = nodeName || (nodeId === undefined ? '' : `node ${nodeId}`);
  const where = [...stage, ...(name ? [`on ${name}`] : [])].join(' ');
  const place = [where, component].filter(Boolean).join(', ');
  return escapeControls(`${place ? `${place}: ` : ''}${label.faultReason(reason)}: ${message}`);
}
