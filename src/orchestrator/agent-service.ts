import { randomUUID } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import type { NodeAgentServiceService, SubscribeRequest } from '../../gen/stageplane/v1/node_agent_service.js';
import { type NodeId, nodeId, type SessionId, sessionId } from '../core/ids.js';
import type { ServiceBodies } from '../grpc/add-service.js';
import { createMessageValidator } from '../grpc/message-validator.js';
import { helloMillis } from '../grpc/patience.js';
import { RpcError } from '../grpc/rpc-error.js';
import { throwIfAny } from '../grpc/throw-if-any.js';
import { readIdentity } from '../pki/peer-identity.js';
import type { Loop } from './loop.js';
import { sessionEvent } from './session-event.js';
import type { Sessions } from './sessions.js';

type Bodies = ServiceBodies<typeof NodeAgentServiceService>;

/** NodeAgentService: turns what agents say into events of the machine. */
export function agentService(loop: Loop, sessions: Sessions): Bodies {
  const validate = createMessageValidator('stageplane.v1.SubscribeRequest');
  return {
    async subscribe(requests, stream, context) {
      const session = sessionId(randomUUID());
      sessions.add(session, stream);
      const id = context.certificate && readIdentity(context.certificate)?.nodeId;
      const enrolled = id === undefined ? undefined : nodeId(id);
      let goodbye = false;
      let greeted = false;
      const patience = setTimeout(() => stream.fail(silent()), helloMillis);
      try {
        for await (const request of requests) {
          throwIfAny(validate(request));
          if (greeted !== (request.message?.$case !== 'hello')) throw outOfOrder(greeted);
          greeted = true;
          clearTimeout(patience);
          if (request.message?.$case === 'goodbye') goodbye = true;
          if (goodbye) break;
          take(loop, sessions, { session, enrolled }, request);
          await loop.hasRoom();
        }
        context.logger.debug({ session, goodbye }, 'session ended');
      } finally {
        clearTimeout(patience);
        sessions.remove(session);
        loop.post({ kind: 'session-ended', session, goodbye });
      }
    },
  };
}

interface Peer {
  readonly session: SessionId;
  /** By its certificate. */
  readonly enrolled: NodeId | undefined;
}

function take(loop: Loop, sessions: Sessions, { session, enrolled }: Peer, request: SubscribeRequest): void {
  if (request.message?.$case === 'log') sessions.receiveLog(session, request.message.value);
  else {
    const event = sessionEvent(session, request);
    if (event) loop.post(event.kind === 'hello-received' ? { ...event, enrolled } : event);
  }
}

function silent(): RpcError {
  const message = `a session must begin with Hello within ${helloMillis} ms: open another stream and send it first`;
  return new RpcError(status.DEADLINE_EXCEEDED, 'HELLO_MISSING', message);
}

function outOfOrder(greeted: boolean): RpcError {
  const message = greeted
    ? 'a session has one Hello, its first message: open another stream for another session'
    : 'the first message of a session must be Hello: send it before anything else';
  return new RpcError(status.FAILED_PRECONDITION, greeted ? 'SECOND_HELLO' : 'HELLO_MISSING', message);
}
