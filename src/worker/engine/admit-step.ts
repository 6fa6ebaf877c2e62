import type { EngineCapabilities } from './engine-capabilities.js';
import type { Session, SessionTable } from './session-table.js';
import { failure, type StatusCode, type StructuredStatus } from './status.js';
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
  const noRoom = noRoomFor(request.sessionId, request.position + rows, session, sessions, stage);
  if (noRoom !== undefined) return { kind: 'refused', result: new StepResult({ status: noRoom }) };
  return start;
}

/** Why a session, which may be a new one, cannot come to hold `length` positions; undefined when it can. */
export function noRoomFor(
  id: string,
  length: number,
  session: Session | undefined,
  sessions: SessionTable,
  stage: EngineCapabilities,
): StructuredStatus | undefined {
  const most = stage.maxContextTokens;
  if (length > most) {
    const message = `session ${id} would hold ${length} tokens; this stage keeps ${most}: plan a longer context_length`;
    return failure('RESOURCE_EXHAUSTED', message);
  }
  if (session !== undefined || !sessions.full) return undefined;
  const message = `all ${sessions.capacity} sessions of this stage are taken: release one, or plan more sessions`;
  return failure('RESOURCE_EXHAUSTED', message);
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
