import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { Child, type Ended, stageplane } from './child.js';

const data = temporaryFolder(afterAll);
const home = { HOME: data };
let orchestrator: Child;

const run = (...words: string[]): Promise<Ended> => stageplane([...words, '--data', data], home);
const lines = async (...words: string[]) => (await run('audit', ...words)).stdout.trim().split('\n');

beforeAll(async () => {
  await run('init');
  orchestrator = new Child(['orchestrator', '--json', '--data', data, '--listen', '127.0.0.1:0'], home);
  await orchestrator.shown('stdout', '\n');
  await run('token', 'create', '--node', 'laptop');
  await run('cert', 'revoke', 'abc');
});

afterAll(async () => {
  orchestrator.process.kill('SIGTERM');
  await orchestrator.end();
});

it('tells who did what with which result, the newest last, and nothing secret', async () => {
  const { code, stdout } = await run('audit');
  expect(code).toBe(0);
  expect(stdout).toMatch(/CreateJoinToken.*laptop[^\n]*\n[^\n]*RevokeCertificate[^\n]*NOT_FOUND/);
  expect(stdout).not.toContain('sp1.');
});

it('finds by method, and says when there is nothing', async () => {
  expect(await lines('--method', 'CreateJoinToken')).toHaveLength(1);
  expect(await lines('--limit', '1')).toEqual([expect.stringContaining('RevokeCertificate')]);
  expect(await lines('--run', '7')).toEqual(['nothing of that kind was recorded']);
});

it('gives machines one document', async () => {
  const { stdout } = await run('audit', '--json', '--method', 'CreateJoinToken');
  expect(JSON.parse(stdout).events).toMatchObject([
    { action: 'stageplane.v1.AdminService/CreateJoinToken', code: 'OK' },
  ]);
});

it('follows what comes, and ends by Ctrl-C', async () => {
  const following = new Child(['audit', '--follow', '--data', data], home);
  await following.shown('stdout', 'RevokeCertificate');
  await run('token', 'create', '--node', 'desktop');
  await following.shown('stdout', 'desktop');
  following.process.kill('SIGINT');
  expect(await following.end()).toMatchObject({ code: 130, stderr: '' });
});

it('changes what the orchestrator logs while it runs, and records that', async () => {
  expect(await run('log-level', 'debug')).toMatchObject({ code: 0, stdout: expect.stringContaining('logs debug') });
  expect(await lines('--method', 'SetLogLevel')).toHaveLength(1);
  expect((await run('log-level', 'loud')).code).toBe(2);
});

it('says that it needs the orchestrator of this machine', async () => {
  const { code, stderr } = await stageplane(['audit', '--data', `${data}/none`], home);
  expect(code).toBe(5);
  expect(stderr).toMatch(/orchestrator.*none/);
});
