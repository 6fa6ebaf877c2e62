import type { Logger } from 'pino';

/** What the product would log is in the transcript already, as far as its machines say it; a defect is kept for it. */
export class SilentLogger {
  /** The newest that was logged as an error. */
  defect: unknown;

  get asLogger(): Logger {
    const quiet = () => {};
    const logger = {
      debug: quiet,
      info: quiet,
      warn: quiet,
      error: ({ err }: { err?: unknown }) => {
        this.defect = err;
      },
      child: () => logger,
    };
    return logger as unknown as Logger;
  }
}
