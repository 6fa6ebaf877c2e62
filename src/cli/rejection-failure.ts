import type { PlanCandidate, PlanReport } from '../../gen/stageplane/v1/planner.js';
import type { PlanRejection } from '../../gen/stageplane/v1/rejection.js';
import { formatBytes } from '../core/format-bytes.js';
import { exitCode } from './exit-code.js';
import type { Failure } from './failure.js';
import { exclusionLines } from './format/exclusion-lines.js';
import { label } from './format/labels.js';

/** A rejection as a failure: the sentence, what broke the rule, and why nodes were left out. */
export function rejectionFailure(rejection: PlanRejection, report: PlanReport | undefined): Failure {
  const kind = label.rejection(rejection.kind);
  const { neededBytes, availableBytes } = rejection;
  const memory =
    neededBytes === undefined
      ? []
      : [`needed: ${formatBytes(neededBytes)}, available: ${formatBytes(availableBytes ?? 0n)}`];
  const violations = rejection.violations.filter(({ message }) => message !== rejection.message);
  const said = new Set([rejection.message, ...violations.map(({ message }) => message)]);
  // A node that is free explains no rejection, and what a violation has said need not be said again.
  const obstacles = (report?.exclusions ?? []).filter(
    ({ reason, message }) => reason !== 'not-chosen' && !said.has(message),
  );
  const hint = report?.noValidPlanHint?.text;
  return {
    exitCode: exitCode.rejected,
    code: 'FAILED_PRECONDITION',
    reason: kind,
    message: `the plan was rejected, ${kind}: ${rejection.message}`,
    violations,
    details: [
      ...memory,
      ...candidateLines(report?.candidates ?? [], said),
      ...exclusionLines(obstacles),
      ...(hint ? [`hint: ${hint}`] : []),
    ],
  };
}

/** What kept each strategy from a plan; those with the same reason share a line. */
function candidateLines(candidates: readonly PlanCandidate[], said: ReadonlySet<string>): string[] {
  const names = new Map<string, string[]>();
  for (const { name, reasons } of candidates) {
    const [first] = reasons;
    if (first !== undefined && !said.has(first)) names.set(first, [...(names.get(first) ?? []), name]);
  }
  return [...names].map(([reason, alike]) => `${alike.join(', ')}: ${reason}`);
}
