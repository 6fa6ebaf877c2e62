import type { StageKey } from '../../src/core/machine/state.js';

/** Who stands at an edge: a stage's worker, or a token endpoint at both ends of the chain. */
export interface EdgeEnd {
  /** It listens and dials; nothing is lost on the way. */
  readonly isLoaded: boolean;
  /** A neighbour came or went. */
  edgesChanged(): void;
  /** A neighbour that was connected is gone. */
  neighbourLost(): void;
}

/** Edges between stages, by run and generation: a producer of another generation is never accepted (I3). */
export class DataPlane {
  readonly #chains = new Map<string, Map<number, EdgeEnd>>();

  /** @param stageIndex -1 is the token endpoint */
  put(key: StageKey, end: EdgeEnd): void {
    const chain = this.#chains.get(chainName(key)) ?? new Map<number, EdgeEnd>();
    this.#chains.set(chainName(key), chain.set(key.stageIndex, end));
  }

  remove(key: StageKey, end: EdgeEnd): void {
    const chain = this.#chains.get(chainName(key));
    if (chain?.get(key.stageIndex) !== end) return;
    chain.delete(key.stageIndex);
    if (chain.size === 0) this.#chains.delete(chainName(key));
  }

  /** Whether both neighbours of a stage, or of the token endpoint, are there. */
  isConnected(key: StageKey, stageCount: number): boolean {
    const chain = this.#chains.get(chainName(key));
    return neighbours(key.stageIndex, stageCount).every((index) => chain?.get(index)?.isLoaded);
  }

  tellChanged(key: StageKey): void {
    for (const [index, end] of this.#chains.get(chainName(key)) ?? []) if (index !== key.stageIndex) end.edgesChanged();
  }

  tellLost(key: StageKey, stageCount: number): void {
    const chain = this.#chains.get(chainName(key));
    for (const index of neighbours(key.stageIndex, stageCount)) chain?.get(index)?.neighbourLost();
  }
}

function neighbours(index: number, stageCount: number): number[] {
  if (index === -1) return [0, stageCount - 1];
  return [index - 1, index + 1 === stageCount ? -1 : index + 1];
}

function chainName({ runId, generation }: StageKey): string {
  return `${runId} g${generation}`;
}
