import { exitCode } from './exit-code.js';
import type { Interrupts } from './interrupts.js';

/** On the first signal `stop` is called, once; a second one ends the process whatever is left to do. */
export function stopOnSignal({ first, second }: Interrupts, stop: () => void): void {
  second.addEventListener('abort', () => process.exit(exitCode.interrupted), { once: true });
  if (first.aborted) stop();
  else first.addEventListener('abort', stop, { once: true });
}
