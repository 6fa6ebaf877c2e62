import type { Store } from '../store/store.js';

/** Where the process may be told to end: what a crash test must survive is listed here. */
export const failPointNames = [
  'before-commit',
  'after-commit',
  'before-send',
  'after-send',
  'before-answer',
  'after-answer',
] as const;

export type FailPointName = (typeof failPointNames)[number];

/** What the environment names as a fail point. */
export const FAIL_POINT_VARIABLE = 'STAGEPLANE_FAIL_POINT';

/**
 * Ends this process with SIGKILL at the n-th passage of a point, for crash tests. Where none is set nobody calls it: the
 * store and the performer are wrapped only then.
 */
export class FailPoint {
  private name: FailPointName | undefined;
  private left = 0;

  /** @param passage from 1 on, counted from now */
  arm(name: FailPointName, passage: number): void {
    this.name = name;
    this.left = passage;
  }

  /** Calls `use` between the two points of its kind. */
  around<T>(kind: 'commit' | 'send' | 'answer', use: () => T): T {
    this.pass(`before-${kind}`, end);
    const result = use();
    // What was handed to a socket is on its way two turns of the event loop later; a commit is on the disk at once.
    this.pass(`after-${kind}`, kind === 'commit' ? end : () => setImmediate(() => setImmediate(end)));
    return result;
  }

  private pass(name: FailPointName, reached: () => void): void {
    if (name !== this.name) return;
    this.left -= 1;
    if (this.left === 0) reached();
  }
}

/** `before-commit:17`; a sentence when it cannot be read. */
export function readFailPoint(text: string): FailPoint | string {
  const [, name, passage] = /^([a-z-]+):(\d{1,9})$/.exec(text) ?? [];
  const known = failPointNames.find((one) => one === name);
  if (!known || Number(passage) < 1) {
    return `${FAIL_POINT_VARIABLE} is "${text}": write one of ${failPointNames.join(', ')} and a number from 1 on, such as before-commit:17`;
  }
  const failPoint = new FailPoint();
  failPoint.arm(known, Number(passage));
  return failPoint;
}

/** The same store, whose commits are between two points. */
export function withFailPoint(store: Store, failPoint: FailPoint): Store {
  return new Proxy(store, {
    get(target, key) {
      if (key === 'commit')
        return (...parts: Parameters<Store['commit']>) => failPoint.around('commit', () => target.commit(...parts));
      const value = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function end(): void {
  process.kill(process.pid, 'SIGKILL');
}
