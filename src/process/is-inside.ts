import { isAbsolute, relative, sep } from 'node:path';

/** Whether an absolute path names something below a folder, as the two are written: no link is followed. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
