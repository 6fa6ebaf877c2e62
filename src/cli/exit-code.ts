/** What the shell is told; `--help` lists the same numbers. */
export const exitCode = {
  ok: 0,
  failure: 1,
  usage: 2,
  rejected: 3,
  faulted: 4,
  unreachable: 5,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

export const exitCodeHelp = `
Exit codes:
  0    done as asked
  1    failure; of verify: the texts differ
  2    a flag, argument or environment variable cannot be used; of verify also: nothing could be compared
  3    the plan was rejected, or no longer fits
  4    the run ended FAULTED
  5    the orchestrator cannot be reached
  130  interrupted
`;
