import { limits } from '../../core/limits.js';
import { settlesWithin } from '../settles-within.js';

/**
 * The same iteration once its first result is there, so that what refuses at once can still be answered with a status; or
 * after a while, for clients and proxies give up on a silent server, and a long prompt may take minutes.
 */
export async function begun<Piece>(pieces: AsyncGenerator<Piece, void>): Promise<AsyncGenerator<Piece, void>> {
  const first = pieces.next();
  await settlesWithin(first, limits.eventStreamPulseMillis);
  return goOn(first, pieces);
}

async function* goOn<Piece>(
  first: Promise<IteratorResult<Piece, void>>,
  pieces: AsyncGenerator<Piece, void>,
): AsyncGenerator<Piece, void> {
  try {
    const { done, value } = await first;
    if (done) return;
    yield value;
    yield* pieces;
  } finally {
    await pieces.return();
  }
}
