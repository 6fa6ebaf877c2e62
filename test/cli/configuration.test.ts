import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commands } from '../../src/cli/program.js';
import { packageRoot } from '../../src/package-root.js';
import { configurationPage } from './configuration-page.js';

const file = join(packageRoot(), 'src', 'cli', 'CONFIGURATION.md');

it('the page of all settings is what the commands declare; `npm run docs:config` writes it anew', () => {
  const page = configurationPage(commands);
  if (process.env.UPDATE_DOCS) writeFileSync(file, page);
  expect(readFileSync(file, 'utf8')).toBe(page);
});

it('no setting goes without a description', () => {
  const settings = commands.flatMap((command) => Object.values({ ...command.settings, ...command.operands }));
  expect(settings.filter(({ description }) => description.length < 3)).toEqual([]);
});
