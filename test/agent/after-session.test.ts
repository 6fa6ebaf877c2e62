import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { afterSession, type SessionHistory } from '../../src/agent/after-session.js';
import type { AgentSessionEnd } from '../../src/agent/agent-session.js';
import { limits } from '../../src/core/limits.js';
import { RpcError } from '../../src/grpc/rpc-error.js';

const fresh: SessionHistory = { everWelcomed: false, shortSessions: 0, inUseFor: 0 };

function refused(reason: string): AgentSessionEnd {
  return { kind: 'failed', error: new RpcError(status.FAILED_PRECONDITION, reason, 'the sentence') };
}

describe('after a session', () => {
  it.each(['NAME_TAKEN', 'FOREIGN_CLUSTER', 'PROTOCOL_MISMATCH', 'NODE_ID_TAKEN', 'INVALID_FIELDS'])(
    'refused with %s',
    (reason) => {
      expect(afterSession(refused(reason), fresh, 0)).toEqual({ kind: 'give-up', message: 'the sentence' });
      expect(afterSession(refused(reason), { ...fresh, everWelcomed: true }, 0).kind).toBe('retry');
    },
  );

  it('INSTANCE_IN_USE is held out until a dead one would have been noticed, whatever the heartbeat', () => {
    const decide = (inUseFor: number, everWelcomed = false) =>
      afterSession(refused('INSTANCE_IN_USE'), { ...fresh, inUseFor, everWelcomed }, 0).kind;
    expect(decide(0)).toBe('retry');
    const noticed = limits.keepaliveMillis + limits.keepaliveAnswerMillis;
    expect(decide(noticed)).toBe('retry');
    expect(decide(noticed + 1)).toBe('give-up');
    expect(decide(noticed + 1, true)).toBe('retry');
  });

  it.each(['UNAVAILABLE', 'RESOURCE_EXHAUSTED', 'TOO_MANY_NODES', 'SESSION_REPLACED'])(
    '%s is tried for ever',
    (reason) => {
      const long = { ...fresh, shortSessions: 100_000 };
      expect(afterSession(refused(reason), long, 0.5)).toEqual({ kind: 'retry', afterMillis: 5000 });
    },
  );

  it('waits between nothing and a ceiling that doubles from 0.25 s to 10 s', () => {
    const ceilings = [0, 1, 2, 3, 4, 5, 6, 7].map((shortSessions) => {
      const next = afterSession({ kind: 'ended' }, { ...fresh, shortSessions }, 1);
      return next.kind === 'retry' ? next.afterMillis : undefined;
    });
    expect(ceilings).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
    expect(afterSession({ kind: 'ended' }, fresh, 0)).toEqual({ kind: 'retry', afterMillis: 0 });
  });

  it('a GoAway is obeyed, and never undercut', () => {
    const end: AgentSessionEnd = { kind: 'sent-away', retryDelayMillis: 30_000, reason: 'upgrade' };
    expect(afterSession(end, fresh, 0)).toEqual({ kind: 'retry', afterMillis: 30_000 });
    expect(afterSession(end, fresh, 1)).toEqual({
      kind: 'retry',
      afterMillis: 30_000 + limits.sessionBackoffMinMillis,
    });
  });
});
