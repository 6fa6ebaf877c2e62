import { type ExitCode, exitCode } from './exit-code.js';
import { causeLine } from './format/cause.js';
import { label } from './format/labels.js';
import type { Output } from './output.js';
import type { PrintedAnswer } from './print-answer.js';

/** Says why an answer broke off, if it did, and gives the exit code. */
export function answerExit(output: Output, runId: bigint, printed: PrintedAnswer): ExitCode {
  if (printed.kind === 'done') return exitCode.ok;
  if (printed.kind === 'interrupted') return exitCode.interrupted;
  const { cause } = printed;
  return output.fail({
    exitCode: exitCode.faulted,
    code: 'ABORTED',
    reason: label.faultReason(cause.reason),
    message: `run ${runId} ended FAULTED before the answer did: ${causeLine(cause)}`,
    violations: [],
    details: cause.logTail,
  });
}
