// Builds the dashboard into dist/dashboard, unless it is there and nothing that it is made of has changed.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const out = join(root, 'dist', 'dashboard');
// Beside it, since it is not for users.
const mark = join(root, 'dist', 'dashboard.made-of');
// The folders that src/README.md lets the dashboard import, and what names the versions of its libraries.
const sources = ['src/dashboard', 'src/core', 'src/cli/format', 'src/cli/pool-of-nodes.ts', 'gen', 'package-lock.json'];

const madeOf = digestOf(sources.flatMap((path) => filesUnder(join(root, path))));
if (!existsSync(join(out, 'index.html')) || !existsSync(mark) || readFileSync(mark, 'utf8') !== madeOf) {
  // Loading it takes half a second, and most builds do not need it.
  const { build } = await import('vite');
  await build({ configFile: join(import.meta.dirname, 'vite.config.mjs') });
  writeFileSync(mark, madeOf);
}

function filesUnder(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true })
    .map((name) => join(path, String(name)))
    .filter((file) => statSync(file).isFile())
    .sort();
}

function digestOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}
