import {
  type Run,
  type RunCause,
  type RunEvent,
  type RunSummary,
  StageFaultReason,
} from '../../gen/stageplane/v1/run.js';
import type { RunState } from '../core/machine/state.js';
import { callerOf, type Shown } from './caller.js';

/** What a caller may read of runs. */
export interface RunViews {
  run(run: Run): Run;
  summary(summary: RunSummary, run: RunState): RunSummary;
  event(event: RunEvent): RunEvent;
}

const whole: RunViews = { run: (run) => run, summary: (summary) => summary, event: (event) => event };

const HIDDEN = 'the prompt was refused; why is told to launchers, for it may quote the prompt';

/** Everything for a viewer but what a prompt says. Stages and their logs know no text: it ends at the token endpoint. */
const withoutText: RunViews = {
  run: ({ plan, cause, lastCause, ...run }) => ({
    ...run,
    plan: plan && { ...plan, runtime: plan.runtime && { ...plan.runtime, prompt: undefined } },
    cause: cause && causeWithoutText(cause),
    lastCause: lastCause && causeWithoutText(lastCause),
  }),
  summary: (summary, { cause }) =>
    cause?.fixed && isPromptRefused(cause.fault) ? { ...summary, cause: HIDDEN } : summary,
  event: (event) => {
    const { detail } = event;
    if (detail?.$case !== 'runPhase' || !detail.value.cause) return event;
    const value = { ...detail.value, cause: causeWithoutText(detail.value.cause) };
    return { ...event, detail: { $case: 'runPhase', value } };
  },
};

/** By what the caller has shown; who need not show anything reads everything. */
export function viewsFor(shown: Shown): RunViews {
  const caller = callerOf(shown);
  return 'identity' in caller && caller.identity.role === 'viewer' ? withoutText : whole;
}

/** The token endpoint is the one process that has texts, and what a template says of messages may quote them. */
function causeWithoutText(cause: RunCause): RunCause {
  const { component, message, logTail } = cause;
  return {
    ...cause,
    message: isPromptRefused(cause) ? HIDDEN : message,
    logTail: component === 'token-endpoint' ? [] : logTail,
  };
}

function isPromptRefused({ reason }: { readonly reason: StageFaultReason }): boolean {
  return reason === StageFaultReason.STAGE_FAULT_REASON_PROMPT_REFUSED;
}
