import type { WorkerHello } from '../../gen/stageplane/v1/worker.js';
import type { WorkerFailure } from '../core/machine/agent/events.js';
import type { WorkerProcess } from './worker-process.js';

export type Greeting =
  | { readonly kind: 'greeted'; readonly hello: WorkerHello }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Waits for a worker's hello: what it can do is what the node offers, and one that never starts is found out now.
 *
 * @param toCheck flags that decide whether it starts
 */
export function greetWorker(
  worker: WorkerProcess,
  command: readonly string[],
  toCheck: readonly string[],
): Promise<Greeting> {
  const name = command.join(' ');
  return new Promise((resolve) => {
    const fail = (what: string, tail: readonly string[]) => {
      const log = tail.length > 0 ? `; it says: ${tail.join(' | ')}` : '';
      resolve({ kind: 'failed', message: `the stage worker "${name}" ${what}: check ${toCheck.join(', ')}${log}` });
    };
    worker.listen({
      greeted: (hello) => resolve({ kind: 'greeted', hello }),
      failed: (failure, tail) => fail(sentenceOf(failure), tail),
      exited: ({ code, signal }, tail) => fail(`ended at once (${signal ?? `code ${code}`})`, tail),
      loading: () => {},
      ready: () => {},
      faulted: () => {},
      healthy: () => {},
    });
  });
}

function sentenceOf(failure: WorkerFailure): string {
  switch (failure.kind) {
    case 'start-failed':
      return `cannot be started (${failure.why})`;
    case 'line-broken':
      return `wrote a line that ${failure.problem}`;
    case 'hello-missing':
    case 'silent':
      return `said nothing for ${failure.waited / 1000} s`;
  }
}
