import type { EdgeIdentity } from '../worker/edge/edge-contract.js';
import { edgeName, foreignPart } from '../worker/edge/edge-preamble.js';
import type { EdgeAddress } from './edge-address.js';
import type { Passage } from './passage.js';
import type { PlannedNode } from './shake-hands.js';

/** An edge of a stage that is alive on this node. */
export interface KnownEdge {
  readonly identity: EdgeIdentity;
  /** Where its bytes go next; undefined while that is not known yet. */
  readonly onward: () => EdgeAddress | undefined;
  /** What crosses the gateway for it now. */
  readonly passages: Set<Passage>;
  /** Where that is, in words. */
  readonly towards: string;
  /** Who has to be met there over mutual TLS. */
  readonly planned: PlannedNode | undefined;
  /** Told once that whoever answers there is not it. */
  onDistrust: ((sentence: string) => void) | undefined;
  /** The log says already that it is not reached. */
  troubled: boolean;
}

export function knownEdge(
  identity: EdgeIdentity,
  towards: string,
  onward: KnownEdge['onward'],
  other: Partial<Pick<KnownEdge, 'planned' | 'onDistrust'>> = {},
): KnownEdge {
  const { planned, onDistrust } = other;
  return { identity, towards, onward, planned, onDistrust, passages: new Set(), troubled: false };
}

export type FoundEdge =
  | { readonly kind: 'edge'; readonly edge: KnownEdge }
  /** `problem` goes on a sentence about the connection. */
  | { readonly kind: 'foreign'; readonly problem: string };

/** The edges that a gateway passes in one direction. Bounded by who adds (I16). */
export class EdgeTable {
  readonly #edges = new Map<string, KnownEdge>();

  get size(): number {
    return this.#edges.size;
  }

  add(edge: KnownEdge): void {
    this.#edges.set(keyOf(edge.identity), edge);
  }

  /** Removes this very edge, and not one that has come in its place. */
  remove(edge: KnownEdge): void {
    if (this.at(edge.identity) === edge) this.#edges.delete(keyOf(edge.identity));
  }

  /** The edge with this run, generation and id, whoever produces it. */
  at(identity: EdgeIdentity): KnownEdge | undefined {
    return this.#edges.get(keyOf(identity));
  }

  /** The edge that a preamble names, if its producer is the right one as well (I3, I6). */
  find(identity: EdgeIdentity): FoundEdge {
    const edge = this.at(identity);
    if (edge === undefined) {
      const name = `${edgeName(identity)}, generation ${identity.generation}`;
      return { kind: 'foreign', problem: `is of ${name}, which no stage here has` };
    }
    const foreign = foreignPart(identity, edge.identity);
    return foreign === undefined ? { kind: 'edge', edge } : { kind: 'foreign', problem: foreign };
  }
}

function keyOf({ runId, generation, edgeId }: EdgeIdentity): string {
  return `${runId}/${generation}/${edgeId}`;
}
