/** Token endpoints without a process, ready at once: for scripted agents, whose stages have no edges. */
export function readyEndpoints(post) {
  return {
    open: ({ runId, generation }) => post({ kind: 'token-endpoint-ready', runId, generation }),
    close: () => {},
    beginAnswer: () => {},
    awaitQuiet: (runId, generation) => post({ kind: 'token-endpoint-quiet', runId, generation }),
    find: () => undefined,
    stop: async () => {},
  };
}
