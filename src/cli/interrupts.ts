/** Ctrl-C as two requests: the first asks to stop in good order, the second to leave at once. */
export interface Interrupts {
  readonly first: AbortSignal;
  readonly second: AbortSignal;
  /** Gives Ctrl-C its usual meaning back. */
  ignore(): void;
}

export function listenForInterrupts(signals: readonly NodeJS.Signals[] = ['SIGINT']): Interrupts {
  const first = new AbortController();
  const second = new AbortController();
  const listen = () => (first.signal.aborted ? second : first).abort();
  for (const name of signals) process.on(name, listen);
  return {
    first: first.signal,
    second: second.signal,
    ignore: () => {
      for (const name of signals) process.off(name, listen);
    },
  };
}
