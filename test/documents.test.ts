import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../src/cli/program.js';

const root = join(import.meta.dirname, '..');
const documents = [
  'README.md',
  'src/CONCEPTS.md',
  'src/OPERATING.md',
  'src/TROUBLESHOOTING.md',
  'src/cli/CONFIGURATION.md',
  'deploy/README.md',
  'examples/README.md',
];

describe.each(documents)('%s', (document) => {
  const text = readFileSync(join(root, document), 'utf8');

  it('links only to what is there', () => {
    const links = [...text.matchAll(/\]\(([^)#:]*)(?:#([^)]*))?\)/g)];
    const isThere = (path: string, anchor?: string) => {
      const file = path === '' ? join(root, document) : join(root, dirname(document), path);
      return existsSync(file) && (anchor === undefined || anchorsOf(readFileSync(file, 'utf8')).includes(anchor));
    };
    expect(links.filter(([, path = '', anchor]) => !isThere(path, anchor)).map(([link]) => link)).toEqual([]);
  });

  it('names only flags and commands that there are', () => {
    const flags = new Set(commands.flatMap(({ settings }) => Object.keys(settings)));
    const typed = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.split('\n'));
    const code = [...text.matchAll(/`([^`\n]+)`/g)]
      .map(([, words = '']) => words)
      .concat(typed.filter((line) => line.startsWith('stageplane ')).map((line) => line.replace(/ # .*/, '')))
      .filter((words) => !/^(docker|npm|install|runuser|systemctl) /.test(words));
    const named = code.flatMap((words) => words.match(/(?<=(^|[ `(])--)[a-z][a-z-]+/g) ?? []);
    const camel = (flag: string) => flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    expect(
      named.filter((flag) => !flags.has(camel(flag)) && !['help', 'init', 'prefix', 'allow-scripts'].includes(flag)),
    ).toEqual([]);
    const called = code.flatMap((words) => words.match(/(?<=^stageplane )[a-z-]+( [a-z]+)?/g) ?? []);
    const names = commands.map(({ name }) => name);
    const isKnown = (words: string) => names.some((name) => words === name || words.startsWith(`${name} `));
    expect(called.filter((words) => !isKnown(words))).toEqual([]);
  });
});

/** By which links find the headings of a page. */
function anchorsOf(text: string): string[] {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
