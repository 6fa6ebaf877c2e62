import { status } from '@grpc/grpc-js';
import type { StageLog, SubscribeResponse } from '../../gen/stageplane/v1/node_agent_service.js';
import type { SessionId } from '../core/ids.js';
import { limits } from '../core/limits.js';
import type { SessionRefusal } from '../core/machine/effects.js';
import type { StageKey } from '../core/machine/state.js';
import { RpcError } from '../grpc/rpc-error.js';
import type { StreamWriter } from '../grpc/stream-writer.js';

interface OpenSession {
  readonly stream: StreamWriter<SubscribeResponse>;
  readonly logs: Map<bigint, (log: StageLog) => void>;
  nextLogRequest: bigint;
}

/** The streams behind the machine's sessions. */
export class Sessions {
  private readonly open = new Map<SessionId, OpenSession>();

  add(session: SessionId, stream: StreamWriter<SubscribeResponse>): void {
    this.open.set(session, { stream, logs: new Map(), nextLogRequest: 1n });
  }

  remove(session: SessionId): void {
    this.open.delete(session);
  }

  send(session: SessionId, message: SubscribeResponse): void {
    this.open.get(session)?.stream.write(message);
  }

  close(session: SessionId, why: SessionRefusal): void {
    this.fail(session, new RpcError(status[why.code], why.reason, why.message));
  }

  fail(session: SessionId, error: RpcError): void {
    this.open.get(session)?.stream.fail(error);
  }

  /** Asks every agent to come back later. */
  sendGoAway(delayMillis: number, reason: string): void {
    const value = { retryDelayMillis: BigInt(delayMillis), reason };
    const message: SubscribeResponse = { message: { $case: 'goAway', value } };
    for (const { stream } of this.open.values()) stream.write(message);
  }

  /** The last lines of a stage's log, or undefined when the agent does not answer in time. */
  requestLog(session: SessionId, key: StageKey, maxLines: number): Promise<readonly string[] | undefined> {
    const state = this.open.get(session);
    if (!state) return Promise.resolve(undefined);
    const requestId = state.nextLogRequest++;
    const value = { ...key, requestId, maxLines };
    return new Promise((resolve) => {
      const settle = (lines: readonly string[] | undefined) => {
        clearTimeout(timer);
        state.logs.delete(requestId);
        resolve(lines);
      };
      const timer = setTimeout(() => settle(undefined), limits.stageLogMillis);
      void state.stream.closed.then(() => settle(undefined));
      state.logs.set(requestId, (log) => settle(log.lines));
      state.stream.write({ message: { $case: 'logRequest', value } });
    });
  }

  receiveLog(session: SessionId, log: StageLog): void {
    this.open.get(session)?.logs.get(log.requestId)?.(log);
  }
}
