import { status } from '@grpc/grpc-js';
import { limits } from '../core/limits.js';
import { RpcError } from '../grpc/rpc-error.js';

/** One page of a list that is ordered by id. The token is the last id of the page before: it survives changes. */
export interface Page<T> {
  readonly items: T[];
  readonly nextPageToken: string;
}

/** Takes the next page out of `items`, which are in list order; `comesAfter` tells that order for two ids. */
export function takePage<T>(
  items: Iterable<T>,
  idOf: (item: T) => bigint,
  comesAfter: (id: bigint, last: bigint) => boolean,
  request: { pageSize: number; pageToken: string },
): Page<T> {
  const size = Math.min(request.pageSize || limits.defaultPageSize, limits.pageSize);
  const last = request.pageToken === '' ? undefined : readToken(request.pageToken);
  const page: T[] = [];
  for (const item of items) {
    if (last !== undefined && !comesAfter(idOf(item), last)) continue;
    if (page.length === size) return { items: page, nextPageToken: writeToken(idOf(page[size - 1]!)) };
    page.push(item);
  }
  return { items: page, nextPageToken: '' };
}

export function writeToken(id: bigint): string {
  return Buffer.from(`after:${id}`).toString('base64url');
}

export function readToken(token: string): bigint {
  const match = /^after:(\d{1,20})$/.exec(Buffer.from(token, 'base64url').toString());
  if (match?.[1] !== undefined) return BigInt(match[1]);
  throw new RpcError(
    status.INVALID_ARGUMENT,
    'INVALID_PAGE_TOKEN',
    'the page token is not one of ours: begin with an empty one',
    {
      fieldViolations: [
        {
          field: 'page_token',
          description: 'must be empty, or next_page_token of the last answer',
        },
      ],
    },
  );
}
