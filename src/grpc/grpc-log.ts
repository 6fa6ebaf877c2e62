import { setLogger } from '@grpc/grpc-js';
import type { Logger } from 'pino';

/**
 * Sends what grpc-js itself has to say to our log; by default it writes to stderr in a format of its own. Its errors are
 * for developers: whoever is concerned gets the failed call or bind as a sentence.
 */
export function sendGrpcLogTo(logger: Logger): void {
  // Not a child: one keeps the level that it was born with.
  const said = (parts: unknown[]) => ({ component: 'grpc-js', why: parts.map(String).join(' ') });
  setLogger({
    error: (...parts: unknown[]) => logger.debug(said(parts), 'grpc-js error'),
    info: (...parts: unknown[]) => logger.trace(said(parts), 'grpc-js info'),
    debug: (...parts: unknown[]) => logger.trace(said(parts), 'grpc-js debug'),
  });
}
