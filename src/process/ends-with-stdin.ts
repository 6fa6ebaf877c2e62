/** Set by whoever starts a daemon as a child and holds its stdin. */
export const ENDS_WITH_STDIN = 'STAGEPLANE_ENDS_WITH_STDIN';

/** Calls `stop` when whoever started this process is gone, however that ended: kill -9 closes a pipe too (I18). */
export function endWithStdin(stop: () => void): void {
  if (!process.env[ENDS_WITH_STDIN]) return;
  process.stdin.once('end', stop).once('error', stop).resume();
  // A daemon that has nothing left to do must not wait for it.
  (process.stdin as typeof process.stdin & { unref?(): void }).unref?.();
}
