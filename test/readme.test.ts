import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const section = readme.split(/^## /m).find((part) => part.startsWith('What you can rely on')) ?? '';
const guarantees = [...section.matchAll(/^\| (.+) \| (.*) \| (.+) \|$/gm)]
  .map(([, guarantee = '', numbers = '', shown = '']) => ({
    guarantee,
    invariants: numbers.match(/\bI\d+\b/g) ?? [],
    files: linksOf(shown),
  }))
  .filter(({ guarantee }) => guarantee !== 'guarantee');

describe('the README', () => {
  it('can be read in one sitting', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(180);
  });

  it('names every invariant once but the one about identity, which nothing shows yet', () => {
    const named = guarantees.flatMap(({ invariants }) => invariants);
    const all = Array.from({ length: 20 }, (_, at) => `I${at + 1}`).filter((name) => name !== 'I13');
    expect([...named].sort()).toEqual(all.sort());
  });

  it.each(guarantees)('names tests that say they show it: $guarantee', ({ invariants, files }) => {
    expect(files).not.toEqual([]);
    const shown = files.map((file) => ({ file, names: namesIn(file) }));
    expect(invariants.filter((name) => !shown.some(({ names }) => names.has(name)))).toEqual([]);
    if (invariants.length === 0) return;
    const beside = shown.filter(({ names }) => !invariants.some((name) => names.has(name)));
    expect(beside.map(({ file }) => file)).toEqual([]);
  });
});

function linksOf(text: string): string[] {
  return [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path = '']) => path);
}

function namesIn(file: string): Set<string> {
  return new Set(readFileSync(join(root, file), 'utf8').match(/\bI\d+\b/g));
}
