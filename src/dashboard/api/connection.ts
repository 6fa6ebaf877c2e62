/** Whether the orchestrator is heard of. Everything that talks to it says so here, under its own name. */
class Connection {
  readonly #lost = new Map<unknown, number>();
  readonly #listeners = new Set<() => void>();
  #since: number | undefined;

  up(who: unknown): void {
    if (this.#lost.delete(who)) this.#settle();
  }

  down(who: unknown): void {
    if (this.#lost.has(who)) return;
    this.#lost.set(who, Date.now());
    this.#settle();
  }

  /** Milliseconds since 1970; undefined while nobody misses an answer. */
  since = (): number | undefined => this.#since;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #settle(): void {
    const times = [...this.#lost.values()];
    this.#since = times.length > 0 ? Math.min(...times) : undefined;
    for (const listener of this.#listeners) listener();
  }
}

export const connection = new Connection();
