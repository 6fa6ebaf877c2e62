import { afterAll } from 'vitest';

/**
 * What is to be done after the last test of a file, last things first; also for what only `beforeAll` has started, within
 * which `afterAll` is not heard. Call it while the file is read.
 */
export function afterFile(): (end: () => unknown) => void {
  const ends: (() => unknown)[] = [];
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });
  return (end) => ends.push(end);
}
