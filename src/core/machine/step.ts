import { limits } from '../limits.js';
import { deliveryAcked, deliveryRefused, stageReported } from './agent-messages.js';
import { answerEnded, answerFailed } from './answers.js';
import { createKey, revokeKey } from './api-keys.js';
import { renewCertificate, revokeCertificate } from './certificates.js';
import { createRun } from './create-run.js';
import { timerFired } from './deadlines.js';
import { dispatchTo } from './dispatch.js';
import type { Draft } from './draft.js';
import { drainNode, tokenEndpointQuiet } from './drain.js';
import { enrol } from './enrol.js';
import type { ClusterEvent } from './events.js';
import { restartGraces } from './grace.js';
import { createToken } from './join-tokens.js';
import { cordonNode, deleteNode, deleteRun, stopRun } from './operator-requests.js';
import { endSession, receiveHeartbeat, receiveHello } from './session-lifecycle.js';
import { reopenTokenEndpoints, tokenEndpointLost, tokenEndpointReady } from './token-endpoint.js';

/** Advances the draft by one event. Pure but for the draft: what must be done is left in its effects. */
export function step(draft: Draft, event: ClusterEvent): void {
  switch (event.kind) {
    case 'hello-received':
      return receiveHello(draft, event.session, event.hello, event.enrolled);
    case 'session-ended':
      return endSession(draft, event.session, event.goodbye);
    case 'delivery-acked':
      return deliveryAcked(draft, event.session, event.deliveryId);
    case 'delivery-refused':
      return deliveryRefused(draft, event.session, event.deliveryId, event.fault);
    case 'stage-reported':
      return stageReported(draft, event.session, event.report);
    case 'heartbeat-received':
      return receiveHeartbeat(draft, event);
    case 'run-requested':
      return createRun(draft, event.call, event.request);
    case 'run-stop-requested':
      return stopRun(draft, event.call, event.runId);
    case 'run-delete-requested':
      return deleteRun(draft, event.call, event.runId);
    case 'node-cordon-requested':
      return cordonNode(draft, event.call, event.nodeId, event.cordoned);
    case 'node-drain-requested':
      return drainNode(draft, event.call, event.nodeId, event.deadline);
    case 'node-delete-requested':
      return deleteNode(draft, event.call, event.nodeId);
    case 'token-requested':
      return createToken(draft, event.call, event.token);
    case 'key-requested':
      return createKey(draft, event.call, event.key);
    case 'key-revocation-requested':
      return revokeKey(draft, event.call, event.keyId);
    case 'enrol-requested':
      return enrol(draft, event);
    case 'renewal-requested':
      return renewCertificate(draft, event.call, event.shown, event.next);
    case 'revocation-requested':
      return revokeCertificate(draft, event.call, event.serial);
    case 'orchestrator-started':
      return reopenTokenEndpoints(draft);
    case 'token-endpoint-ready':
      return tokenEndpointReady(draft, event.runId, event.generation);
    case 'token-endpoint-lost':
      return tokenEndpointLost(draft, event.runId, event.generation, event.fault);
    case 'token-endpoint-quiet':
      return tokenEndpointQuiet(draft, event.runId, event.generation);
    case 'answer-ended':
      return answerEnded(draft, event.runId, event.generation, event.answer);
    case 'answer-failed':
      return answerFailed(draft, event.runId, event.generation, event.fault);
    case 'timer-fired':
      return timerFired(draft, event.timer);
    case 'loop-stalled':
      return restartGraces(draft);
    default:
      return assertNever(event);
  }
}

/** Ends a turn: whatever its events left unsent goes out together, one message per node and run, to so many nodes at once. */
export function finishTurn(draft: Draft): void {
  const nodes = [...draft.dirtyNodes];
  for (const id of nodes.slice(0, limits.nodesPerTurn)) dispatchTo(draft, id);
  draft.undispatched = nodes.slice(limits.nodesPerTurn);
}

function assertNever(event: never): never {
  throw new Error(`unknown event ${JSON.stringify(event)}`);
}
