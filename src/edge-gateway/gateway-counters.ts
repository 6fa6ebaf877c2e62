import type { DistrustKind } from './distrust.js';

/** Why a connection was closed unasked. */
export type RefusalKind =
  /** Somebody is not who was planned, or does not show it. */
  | DistrustKind
  /** It did not say in time whose it is. */
  | 'silent'
  /** It does not begin with the preamble of an edge. */
  | 'malformed'
  /** There were too many. */
  | 'crowded'
  /** Its run, generation, edge or producer is of no stage here. */
  | 'foreign'
  /** Whoever comes next was not reached in time. */
  | 'unreachable';

/** What a gateway has done and does, for metrics. */
export interface GatewayFigures {
  /** Connections that have not said yet whose they are. */
  readonly strangers: number;
  /** Connections whose next hop is being dialled. */
  readonly dialing: number;
  /** Connections that are joined with their next hop. */
  readonly spliced: number;
  /** Bytes that wait in the gateway; what the kernel holds is not counted. */
  readonly heldBytes: number;
  /** Edges known, both directions. */
  readonly edges: number;
  /** Connections that were ever let through to dial. */
  readonly admitted: number;
  /** Connections that were ever closed unasked. */
  readonly refused: Readonly<Record<RefusalKind, number>>;
}

/** Counts what grows. */
export class GatewayCounters {
  admitted = 0;
  readonly refused: Record<RefusalKind, number> = {
    silent: 0,
    malformed: 0,
    crowded: 0,
    foreign: 0,
    unreachable: 0,
    plaintext: 0,
    'foreign-ca': 0,
    expired: 0,
    'other-node': 0,
    'handshake-timeout': 0,
    handshake: 0,
  };

  /** Counts; true when it is worth a line in the log: at 1, 2, 4, 8 and so on, for whoever knocks for ever. */
  refuse(kind: RefusalKind): boolean {
    this.refused[kind] += 1;
    return Number.isInteger(Math.log2(this.refused[kind]));
  }
}
