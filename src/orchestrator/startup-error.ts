/** Why the orchestrator could not start; the message names the thing and what to do next. */
export class StartupError extends Error {
  override readonly name = 'StartupError';

  constructor(
    readonly reason: string,
    message: string,
  ) {
    super(message);
  }
}
