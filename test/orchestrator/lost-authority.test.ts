import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { initialise } from '../../src/orchestrator/initialise.js';
import { startOrchestrator } from '../../src/orchestrator/orchestrator.js';
import { readAuthorityFolder } from '../../src/pki/authority-folder.js';
import { securityMark } from '../../src/pki/security-mark.js';
import { runSecured } from '../support/secured-orchestrator.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const request = { names: [], force: false };
const logger = { info() {}, warn() {}, error() {}, debug() {} } as never;

/** A start that is refused; one that is not is stopped, and fails the test. */
async function refusedStart(dataFolder: string): Promise<{ reason: string; message: string }> {
  const config = { listen: '127.0.0.1:0', dataFolder, models: [], insecure: false, logger };
  const started = await startOrchestrator({ ...config, timings: {} as never }).catch((error) => error);
  if ('stop' in started) {
    await started.stop();
    throw new Error('an orchestrator was started that asks nobody for a certificate');
  }
  return started;
}

test.each([
  ['removed', (pki: string) => rmSync(pki, { recursive: true })],
  ['a link to nowhere', linkToNowhere],
])('a lost folder of certificates starts no orchestrator without them: %s', async (_how, lose) => {
  const dataFolder = temporaryFolder();
  await initialise({ ...request, dataFolder });
  lose(join(dataFolder, 'pki'));
  const refused = await refusedStart(dataFolder);
  expect(refused).toMatchObject({ reason: 'CERTIFICATES_UNUSABLE' });
  expect(refused.message).toMatch(/pki is missing: put a backup .* or run `stageplane init --force`/);
  expect(await initialise({ ...request, dataFolder })).toMatchObject({ reason: 'ALREADY_INITIALISED' });
  expect(await initialise({ ...request, dataFolder, force: true })).toMatchObject({ kind: 'initialised' });
});

test('a database that knows certificates starts no orchestrator without them, in a folder of its own too', async () => {
  const orchestrator = await runSecured();
  await orchestrator.token('launcher');
  await orchestrator.stop();
  const { dataFolder } = orchestrator;
  rmSync(join(dataFolder, 'pki'), { recursive: true });
  unlinkSync(securityMark(dataFolder));
  const refused = await refusedStart(dataFolder);
  expect(refused).toMatchObject({ reason: 'CERTIFICATES_UNUSABLE' });
  expect(refused.message).toMatch(/put a backup of that folder in its place, or run `stageplane init`/);
  await initialise({ ...request, dataFolder });
  await runSecured({ dataFolder });
});

test.each(['first', 'forced'])(
  'killed at each of its renames, the %s init leaves nothing that starts without certificates',
  async (which) => {
    for (let rename = 1; ; rename++) {
      const dataFolder = temporaryFolder();
      if (which === 'forced') await initialise({ ...request, dataFolder });
      const { signal, status } = initKilledAt(dataFolder, rename, which === 'forced');
      if (signal === null) {
        expect(status).toBe(0);
        expect(rename).toBeGreaterThan(6);
        return;
      }
      const read = await readAuthorityFolder(dataFolder);
      // Before the mark nobody was told that it is done; from then on it is whole or refused.
      if (which === 'forced' || existsSync(securityMark(dataFolder))) expect(read.kind).not.toBe('missing');
      const again = await initialise({ ...request, dataFolder, force: true });
      expect(again).toMatchObject({ kind: 'initialised' });
      expect((await readAuthorityFolder(dataFolder)).kind).toBe('read');
    }
  },
);

function linkToNowhere(pki: string): void {
  renameSync(pki, `${pki}-moved`);
  symlinkSync('nowhere', pki);
}

/** `stageplane init`, ended with SIGKILL right before a rename of its own, counted from 1. */
function initKilledAt(dataFolder: string, rename: number, force: boolean) {
  const preload = `data:text/javascript,${encodeURIComponent(`
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    let left = ${rename};
    const { renameSync } = fs;
    fs.renameSync = (...paths) => (--left === 0 ? process.kill(process.pid, 'SIGKILL') : renameSync(...paths));
    syncBuiltinESMExports();
  `)}`;
  const command = ['dist/src/cli/main.js', 'init', '--data', dataFolder, ...(force ? ['--force'] : [])];
  return spawnSync(process.execPath, ['--import', preload, ...command], { timeout: 60_000 });
}

test("in a folder that others may read every file is its owner's alone, one that was not before too", async () => {
  const dataFolder = temporaryFolder();
  chmodSync(dataFolder, 0o755);
  writeFileSync(join(dataFolder, 'lock.db'), '', { mode: 0o644 });
  const orchestrator = await runSecured({ dataFolder });
  await orchestrator.token('launcher');
  const open = readdirSync(dataFolder, { recursive: true })
    .map((name) => join(dataFolder, String(name)))
    .filter((path) => (statSync(path).mode & 0o077) !== 0);
  expect(open).toEqual([]);
});
