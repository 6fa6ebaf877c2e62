import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** As text, so that a change of it can be read. */
const HEX = '.hex';
const LINE = 64;

/** The inputs of a folder in the order of their names: those in hexadecimal, and those that are too large for it as they are. */
export function readCorpus(folder: string): Buffer[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .toSorted()
    .map((name) => {
      const path = join(folder, name);
      return name.endsWith(HEX)
        ? Buffer.from(readFileSync(path, 'utf8').replace(/\s/g, ''), 'hex')
        : readFileSync(path);
    });
}

/** Adds an input, unless there is one of that name. Gives its path. */
export function writeCorpusFile(folder: string, name: string, input: Buffer): string {
  const path = join(folder, `${name}${HEX}`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const lines = input.toString('hex').match(new RegExp(`.{1,${LINE}}`, 'g')) ?? [];
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}
