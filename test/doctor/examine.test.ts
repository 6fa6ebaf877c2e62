import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { saveIdentity } from '../../src/agent/identity.js';
import type { Check, Subject } from '../../src/doctor/check.js';
import { examine } from '../../src/doctor/examine.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import { createRunChanges, sampleRecord } from '../store/sample-changes.js';
import { runSecured } from '../support/secured-orchestrator.js';
import { temporaryFolder } from '../support/temporary-folder.js';

function subject(parts: Partial<Subject> = {}): Subject {
  const dataFolder = parts.dataFolder ?? join(temporaryFolder(), 'data');
  return { role: 'orchestrator', listen: '127.0.0.1:0', orchestrator: undefined, models: [], ...parts, dataFolder };
}

/** What one check found, as one text. */
async function found(name: string, parts: Partial<Subject>): Promise<string> {
  const finding = (await examine(subject(parts))).find((one) => one.name === name)?.finding;
  if (!finding) return 'not looked at';
  return [finding.kind, finding.message, ...('advice' in finding ? [finding.advice] : [])].join(': ');
}

function folderWithDatabase(): string {
  const dataFolder = join(temporaryFolder(), 'data');
  mkdirSync(dataFolder, { mode: 0o700 });
  const store = openSqliteStore(dataFolder, { newClusterId: () => 'cluster' });
  for (let count = 0; count < 5; count++) store.commit(createRunChanges(store.load().cluster, 16));
  store.close();
  return dataFolder;
}

function contentOf(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'latin1')]));
}

describe('a machine that is new', () => {
  it('is fit, and stays without a data folder', async () => {
    const asked = subject();
    const examined = await examine(asked);
    expect(examined.filter(({ finding }) => finding.kind === 'failed')).toEqual([]);
    expect(readdirSync(join(asked.dataFolder, '..'))).toEqual([]);
    expect(await found('identity', {})).toBe('not looked at');
    expect(await found('database', { role: 'agent' })).toBe('not looked at');
  });
});

describe('a data folder', () => {
  it('is read with its database, and left as it is', async () => {
    const dataFolder = folderWithDatabase();
    const before = contentOf(dataFolder);
    expect(await found('database', { dataFolder })).toMatch(/^ok: whole, version \d+, revision 5, /);
    expect(await found('data folder', { dataFolder })).toBe(`ok: ${dataFolder}, for its owner alone`);
    expect(contentOf(dataFolder)).toEqual(before);
  });

  it('tells how far back its audit log goes', async () => {
    const dataFolder = folderWithDatabase();
    expect(await found('database', { dataFolder })).toContain('no audit record');
    const store = openSqliteStore(dataFolder, { newClusterId: () => 'cluster' });
    store.addAudit([sampleRecord(Date.UTC(2026, 0, 2)), sampleRecord(Date.UTC(2026, 0, 3))]);
    store.close();
    expect(await found('database', { dataFolder })).toContain('2 audit records since 2026-01-02T00:00:00.000Z');
  });

  it('is named with what is wrong with it', async () => {
    const folder = temporaryFolder();
    const [open, plain, link] = ['open', 'plain', 'link'].map((name) => join(folder, name)) as [string, string, string];
    mkdirSync(open);
    chmodSync(open, 0o755);
    writeFileSync(plain, '');
    symlinkSync(join(folder, 'nothing'), link);
    expect(await found('data folder', { dataFolder: open })).toContain(
      'mode 755: other users reach what is in it: run chmod 700',
    );
    expect(await found('data folder', { dataFolder: plain })).toContain('is no folder: move it');
    expect(await found('data folder', { dataFolder: link })).toContain('is a link to nothing');
  });

  it.each<[string, (file: string) => void, RegExp]>([
    [
      'cut off',
      (file) => truncateSync(file, 4096 * 3),
      /is damaged \(.+\): put a backup in its place with `stageplane restore/,
    ],
    ['empty', (file) => truncateSync(file, 0), /is damaged \(.+\): put a backup/],
    [
      'of a newer version',
      (file) => new Database(file).exec('PRAGMA user_version = 99').close(),
      /version 99.+: install that/,
    ],
    ['something else', (file) => writeFileSync(file, 'x'.repeat(9000)), /file is not a database.+: put a backup/],
  ])('with a database that is %s fails with what to do, and is left as it is', async (_, spoil, finding) => {
    const dataFolder = folderWithDatabase();
    spoil(join(dataFolder, 'stageplane.db'));
    const before = contentOf(dataFolder);
    expect(await found('database', { dataFolder })).toMatch(finding);
    expect(contentOf(dataFolder)).toEqual(before);
  });

  it('of an agent tells who it is, or that it is damaged', async () => {
    const dataFolder = temporaryFolder();
    saveIdentity(dataFolder, { instanceId: 'i', clusterId: 'c', nodeId: 7n, highestEpoch: 3n });
    expect(await found('identity', { role: 'agent', dataFolder })).toBe(
      'ok: node 7 of cluster c, which was at epoch 3',
    );
    writeFileSync(join(dataFolder, 'identity.json'), '{');
    expect(await found('identity', { role: 'agent', dataFolder })).toMatch(/^failed: .+identity\.json is damaged/);
  });
});

describe('what is around', () => {
  it('an address that is taken is told with who has it', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const listen = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
    const who = process.platform === 'linux' ? `process ${process.pid} (` : 'a process that cannot be told';
    expect(await found('address', { listen })).toContain(`failed: ${listen} is held by ${who}`);
    taken.close();
    expect(await found('address', { listen: '203.0.113.1:7070' })).toMatch(
      /^failed: cannot listen on .+: choose another/,
    );
  });

  it('models that cannot be read, and sockets whose path would be too long, fail', async () => {
    expect(await found('models', { models: ['/no/such/folder'] })).toMatch(
      /^failed: \/no\/such\/folder cannot be read/,
    );
    const dataFolder = join(temporaryFolder(), 'x'.repeat(90));
    expect(await found('sockets', { dataFolder })).toMatch(
      /is too long for a socket: name a folder with a shorter path/,
    );
  });

  it('an orchestrator that does not answer fails', async () => {
    expect(await found('orchestrator', { orchestrator: '127.0.0.1:1' })).toMatch(
      /^failed: no orchestrator answers at 127\.0\.0\.1:1/,
    );
  });

  it('an orchestrator that asks for a certificate fails with how to get one', async () => {
    const { address } = await runSecured();
    expect(await found('orchestrator', { role: 'agent', orchestrator: address })).toMatch(
      /^failed: .+ asks for a certificate.+`stageplane token create`.+start the agent with --join$/,
    );
    expect(await found('orchestrator', { orchestrator: address })).toMatch(/--role launcher.+`stageplane join TOKEN/);
  });
});

it('a check that throws is a finding, and the others go on', async () => {
  const broken: Check = { name: 'broken', roles: ['agent'], look: () => JSON.parse('{') };
  const fine: Check = { name: 'fine', roles: ['agent'], look: () => ({ kind: 'ok', message: 'fine' }) };
  const examined = await examine(subject({ role: 'agent' }), [broken, fine]);
  expect(examined.map(({ finding }) => finding.kind)).toEqual(['failed', 'ok']);
});
