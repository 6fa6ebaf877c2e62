import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

/** The folder itself, or the nearest one above it that is there: where it will be made. */
export function existingPart(folder: string): string {
  let part = folder;
  while (!existsSync(part) && dirname(part) !== part) part = dirname(part);
  return part;
}
