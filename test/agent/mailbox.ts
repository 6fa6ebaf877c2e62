/** What has arrived, in order; a test waits for what it wants and leaves the rest. */
export class Mailbox<T> {
  readonly all: T[] = [];
  #waiting: (() => void)[] = [];

  put(item: T): void {
    this.all.push(item);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** The first item, seen or to come, that `wanted` is about. */
  async find<W extends T>(wanted: (item: T) => item is W): Promise<W>;
  async find(wanted: (item: T) => boolean): Promise<T>;
  async find(wanted: (item: T) => boolean): Promise<T> {
    for (;;) {
      const found = this.all.find(wanted);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}
