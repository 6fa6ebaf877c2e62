import type { EngineCapabilities } from './engine-capabilities.js';
import type { Session, SessionTable } from './session-table.js';
import { failure, type StatusCode } from './status.js';
import { type CacheResult, StepResult } from './step-result.js';
import type { DecodeRequest, PrefillRequest } from './steps.js';

type StepRequest = PrefillRequest | DecodeRequest;

export type StepStart =
  /** The step may run once the session holds exactly the positions before it. `session` is absent for a new one. */
  | {
      readonly kind: 'run';
      readonly session: Session | undefined;
      readonly cacheResult: CacheResult;
    }
  | { readonly kind: 'refused'; readonly result: StepResult };

/** The answer that a step gets without running: a cancelled session's, or that of an earlier step of the same name. */
export function answerWithoutRunning(request: StepRequest, session: Session | undefined): StepResult | undefined {
  if (session === undefined) return undefined;
  if (session.cancelled) {
    return refusal('CANCELLED', `session ${session.id} was cancelled; release it and begin another`);
  }
  const step = request.idempotencyStep;
  const earlier = session.answers.get(step);
  if (earlier !== undefined) return earlier;
  if (step > session.highestForgotten) return undefined;
  return refusal('FAILED_PRECONDITION', `the answer to step ${step} of session ${session.id} is no longer kept`);
}

/** Decides whether a step of `rows` rows follows from what its session holds, and fits the limits. Changes nothing. */
export function admitStep(
  request: StepRequest,
  rows: number,
  sessions: SessionTable,
  stage: EngineCapabilities,
): StepStart {
  const session = sessions.find(request.sessionId);
  const start = request.kind === 'prefill' ? startOfPrefill(request, session) : continuation(request, session);
  if (start.kind === 'refused') return start;
  if (request.position + rows > stage.maxContextTokens) {
    return refused(
      'RESOURCE_EXHAUSTED',
      `session ${request.sessionId} would hold ${request.position + rows} tokens; this stage keeps ` +
        `${stage.maxContextTokens}: plan a longer context_length`,
    );
  }
  if (session === undefined && sessions.full) {
    return refused(
      'RESOURCE_EXHAUSTED',
      `all ${sessions.capacity} sessions of this stage are taken: release one, or plan more sessions`,
    );
  }
  return start;
}

function startOfPrefill(request: PrefillRequest, session: Session | undefined): StepStart {
  const { position, sessionId } = request;
  if (request.cacheExpectation === 'EXPECT_HIT') {
    if (session !== undefined && session.length >= position) return { kind: 'run', session, cacheResult: 'HIT' };
    const held = session === undefined ? 'is not held here' : `holds only ${session.length} positions here`;
    const message = `session ${sessionId} ${held}, but ${position} are expected: prefill from 0`;
    return {
      kind: 'refused',
      result: new StepResult({
        status: failure('CACHE_MISS', message),
        cacheResult: 'MISS',
      }),
    };
  }
  if (position === 0) return { kind: 'run', session, cacheResult: 'NOT_REQUESTED' };
  return continuation(request, session);
}

function continuation(request: StepRequest, session: Session | undefined): StepStart {
  const { position, sessionId } = request;
  if (session === undefined) {
    return refused('UNKNOWN_SESSION', `this stage holds no session ${sessionId}: begin it with a prefill at 0`);
  }
  if (session.length !== position) {
    return refused(
      'FAILED_PRECONDITION',
      `session ${sessionId} holds ${session.length} positions, so its next step cannot start at ${position}`,
    );
  }
  return { kind: 'run', session, cacheResult: 'NOT_REQUESTED' };
}

export function refusal(code: Exclude<StatusCode, 'OK'>, message: string): StepResult {
  return new StepResult({ status: failure(code, message) });
}

function refused(code: Exclude<StatusCode, 'OK'>, message: string): StepStart {
  return { kind: 'refused', result: refusal(code, message) };
}
