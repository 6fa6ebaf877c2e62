import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tell } from './story.js';

const folder = import.meta.dirname;
const stories = readdirSync(folder).filter((file) => file.endsWith('.txt'));

/** Each file is a story whose name is its moral. `UPDATE_GOLDEN=1` writes down what happens now; read the difference. */
describe('golden transcripts', () => {
  it.each(stories)('%s', (file) => {
    const path = join(folder, file);
    const transcript = readFileSync(path, 'utf8');
    const told = tell(transcript);
    if (process.env.UPDATE_GOLDEN) writeFileSync(path, told);
    expect(told).toBe(process.env.UPDATE_GOLDEN ? told : transcript);
  });
});
