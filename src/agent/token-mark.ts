import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The file that says which token was redeemed last: the digest of its secret. */
export const TOKEN_MARK = 'joined-with';

/** Empty when none was. */
export function readTokenMark(folder: string): string {
  try {
    return readFileSync(join(folder, TOKEN_MARK), 'utf8').trim();
  } catch {
    return '';
  }
}
