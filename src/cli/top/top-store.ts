import { limits } from '../../core/limits.js';
import { reduce } from './reduce.js';
import { nothingYet, type TopState, type TopUpdate } from './top-state.js';

/** The newest state, and when to draw it: what changes often is drawn ten times a second all the same. */
export class TopStore {
  private newest = nothingYet;
  private shown = nothingYet;
  private timer: NodeJS.Timeout | undefined;
  private readonly listeners = new Set<() => void>();

  /** @param onUpdate hears of each update, with the state before and after it */
  constructor(private readonly onUpdate: (update: TopUpdate, before: TopState, after: TopState) => void = () => {}) {}

  /** With every update in it. */
  get state(): TopState {
    return this.newest;
  }

  /** As it was for the last picture. */
  readonly snapshot = (): TopState => this.shown;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly tell = (update: TopUpdate): void => {
    const before = this.newest;
    this.newest = reduce(before, update);
    this.onUpdate(update, before, this.newest);
    if (this.newest !== this.shown) this.timer ??= setTimeout(() => this.show(), limits.topFrameMillis);
  };

  stop(): void {
    clearTimeout(this.timer);
    this.listeners.clear();
  }

  private show(): void {
    this.timer = undefined;
    this.shown = this.newest;
    for (const listener of this.listeners) listener();
  }
}
