import { prepareSocketPath } from '../process/prepare-socket-path.js';
import { EdgeDialer } from '../worker/edge/edge-dialer.js';
import { type EdgeFault, edgeFaultReason } from '../worker/edge/edge-fault.js';
import { type ConsumerEvents, type EdgeListener, listenForEdge } from '../worker/edge/edge-listener.js';
import type { ObjectRecord } from '../worker/edge/object-record.js';
import { type WorkerFault, workerFault } from '../worker/stage-fault.js';
import type { CheckedOpen, TokenEdge } from './check-open.js';

/** A fault and the edge that it is about; 0 for none. */
export interface EndpointFault extends WorkerFault {
  readonly edgeId: bigint;
}

/** What the two edges of an endpoint tell. */
export interface TokenEdgesPort {
  /** Both are connected. Once. */
  connected(): void;
  /** An object of token-out; it leaves the ring when this returns. */
  receive(object: ObjectRecord): void;
  /** Token-in has room again. */
  room(): void;
  fault(fault: EndpointFault): void;
  /** A sentence for the log. */
  note(sentence: string): void;
}

export interface TokenEdges {
  readonly tokenIn: EdgeDialer;
  readonly tokenOut: EdgeListener;
}

export type TokenEdgesOutcome =
  | { readonly kind: 'open'; readonly edges: TokenEdges }
  | { readonly kind: 'refused'; readonly fault: EndpointFault };

/** Listens for the last stage, also where an endpoint that was killed has listened, and begins to connect to the first. */
export async function openTokenEdges(
  { tokenIn, tokenOut, bounds: { firstSession } }: CheckedOpen,
  port: TokenEdgesPort,
): Promise<TokenEdgesOutcome> {
  let missing = 2;
  const common = {
    onReady: () => {
      missing -= 1;
      if (missing === 0) port.connected();
    },
    onNote: (sentence: string) => port.note(sentence),
  };
  // Whatever stays in the way is told by the listener.
  await prepareSocketPath(tokenOut.socket).catch(() => {});
  const consumer: ConsumerEvents = {
    ...common,
    onObject: (object) => {
      port.receive(object);
      listener.taken(object);
    },
    onFault: (fault) => port.fault(faultOf(fault, tokenOut)),
  };
  const listening = await listenForEdge(tokenOut.socket, tokenOut.contract, consumer, { firstSession });
  if (listening.kind === 'refused') return { kind: 'refused', fault: faultOf(listening.fault, tokenOut) };
  const { listener } = listening;
  const dialer = new EdgeDialer(tokenIn.socket, tokenIn.contract, {
    ...common,
    onRoom: () => port.room(),
    onFault: (fault) => port.fault(faultOf(fault, tokenIn)),
  });
  return { kind: 'open', edges: { tokenIn: dialer, tokenOut: listener } };
}

function faultOf(fault: EdgeFault, { contract }: TokenEdge): EndpointFault {
  return { ...workerFault(edgeFaultReason(fault), fault.message), edgeId: contract.edgeId };
}
