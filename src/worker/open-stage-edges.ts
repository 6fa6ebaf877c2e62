import type { StageUsage } from '../../gen/stageplane/v1/run.js';
import type { CheckedEdges } from './check-edges.js';
import { EdgeDialer } from './edge/edge-dialer.js';
import { type EdgeFault, edgeFaultReason } from './edge/edge-fault.js';
import { listenForEdge } from './edge/edge-listener.js';
import type { ObjectRecord } from './edge/object-record.js';
import { type WorkerFault, workerFault } from './stage-fault.js';
import { StageLoop } from './stage-loop.js';

/** What the edges of a stage tell. */
export interface StageEdgesPort {
  /** Both neighbours are connected. Once. */
  connected(): void;
  /** The edges or the loop have failed. The stage is over. */
  fault(fault: WorkerFault): void;
  /** A sentence for the log. */
  note(sentence: string): void;
  /** The engine begins a step, or has ended it. */
  busy(isBusy: boolean): void;
  /** What the stage holds has changed, or may have. */
  holds(usage: StageUsage): void;
}

export type StageEdgesOutcome =
  | {
      readonly kind: 'open';
      /** Waits for `start`. */
      readonly loop: StageLoop;
    }
  | { readonly kind: 'refused'; readonly fault: WorkerFault };

/** Opens both edges of a stage and puts its loop between them. Listens before it resolves, connects after it. */
export async function openStageEdges(edges: CheckedEdges, port: StageEdgesPort): Promise<StageEdgesOutcome> {
  const { inbound, outbound, shape } = edges;
  let missing = 2;
  const onReady = () => {
    missing -= 1;
    if (missing === 0) port.connected();
  };
  const onFault = (fault: EdgeFault) => port.fault(faultOf(fault));
  const onNote = (sentence: string) => port.note(sentence);
  const loop = new StageLoop(shape, {
    taken: (object) => listener.taken(object),
    hasRoom: (payloadBytes) => dialer.hasRoom(payloadBytes),
    send: (object) => dialer.send(object),
    fault: (fault) => port.fault(fault),
    busy: (isBusy) => port.busy(isBusy),
    holds: (usage) => port.holds(usage),
  });
  const consumer = { onReady, onObject: (object: ObjectRecord) => loop.accept(object), onFault, onNote };
  const listening = await listenForEdge(inbound.socket, inbound.contract, consumer, inbound);
  if (listening.kind === 'refused') return { kind: 'refused', fault: faultOf(listening.fault) };
  const { listener } = listening;
  const producer = { onReady, onRoom: () => loop.wake(), onFault, onNote };
  const dialer = new EdgeDialer(outbound.socket, outbound.contract, producer, outbound);
  return { kind: 'open', loop };
}

function faultOf(fault: EdgeFault): WorkerFault {
  return workerFault(edgeFaultReason(fault), fault.message);
}
