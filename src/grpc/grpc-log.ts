import { setLogger } from '@grpc/grpc-js';
import type { Logger } from 'pino';

/**
 * Sends what grpc-js itself has to say to our log; by default it writes to stderr in a format of its own. Its errors are
 * for developers: whoever is concerned gets the failed call or bind as a sentence.
 */
export function sendGrpcLogTo(logger: Logger): void {
  const log = logger.child({ component: 'grpc-js' });
  const line = (parts: unknown[]) => parts.map(String).join(' ');
  setLogger({
    error: (...parts: unknown[]) => log.debug({ line: line(parts) }, 'grpc-js error'),
    info: (...parts: unknown[]) => log.trace({ line: line(parts) }, 'grpc-js info'),
    debug: (...parts: unknown[]) => log.trace({ line: line(parts) }, 'grpc-js debug'),
  });
}
