import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { dashboard } from '../../src/http/dashboard.js';
import type { KeyRing } from '../../src/http/key-ring.js';
import { openHttpServer } from '../../src/http/open-http-server.js';
import { session } from '../../src/http/session.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const keys: KeyRing = {
  find: (key) => (key === 'right' ? { id: '1', name: 'vera', role: 'viewer' } : undefined),
  enter: () => () => {},
};

/** The dashboard and its sign-in where everybody needs a key; gives the address. */
async function open(isSecure = false, folder = madeDashboard()): Promise<string> {
  const methodsOf = (role: string | undefined) => (role === 'viewer' ? ['ListRuns'] : ['ListRuns', 'StopRun']);
  const bound = await openHttpServer({
    listen: '127.0.0.1:0',
    admission: { keys, trustsThisMachine: false, onRefused: () => {} },
    doors: [session({ methodsOf, isSecure }), dashboard(folder)],
    onAnswered: () => {},
    logger: pino({ level: 'silent' }),
  });
  if (bound.kind === 'refused') throw new Error(bound.message);
  onTestFinished(() => bound.drain(0));
  return `http://${bound.address}`;
}

function madeDashboard(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>pages</title>');
  writeFileSync(join(folder, 'assets', 'index-1a2b.js'), 'export {};');
  writeFileSync(join(folder, 'secret.txt'), 'not for everybody');
  return folder;
}

const signIn = (url: string, key: string) =>
  fetch(`${url}/session`, { method: 'POST', headers: { authorization: `Bearer ${key}` } });

test('the pages are for everybody, are looked for anew each time, and run nothing of another site', async () => {
  const url = await open();
  for (const path of ['/', '/runs', '/runs/7', '/plan', '/events']) {
    const page = await fetch(url + path);
    expect([path, page.status, await page.text()]).toEqual([path, 200, expect.stringContaining('pages')]);
    expect(page.headers.get('cache-control')).toBe('no-cache');
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'self'/);
  }
});

test('what has its digest in its name is kept for ever, and nothing else of the folder is there', async () => {
  const url = await open();
  const script = await fetch(`${url}/assets/index-1a2b.js`);
  expect([script.status, script.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
  expect(script.headers.get('content-type')).toMatch(/javascript/);
  for (const path of [
    '/assets/../secret.txt',
    '/assets/%2e%2e/secret.txt',
    '/secret.txt',
    '/assets/',
    '/assets/gone.js',
  ]) {
    const { status } = await fetch(url + path, { headers: { authorization: 'Bearer right' } });
    expect([path, status]).toEqual([path, 404]);
  }
});

test('a package that was never built says so', async () => {
  const page = await fetch(await open(false, temporaryFolder()));
  expect(page.status).toBe(503);
  expect(await page.json()).toMatchObject({
    error: { reason: 'NO_DASHBOARD', message: expect.stringContaining('build') },
  });
});

test('a key becomes a cookie that no script reads, says what it may do, and is gone after signing out', async () => {
  const url = await open();
  expect((await fetch(`${url}/session`)).status).toBe(401);
  for (const wrong of ['wrong', 'right-or-not']) {
    const answer = await signIn(url, wrong);
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null]);
    expect(await answer.json()).toMatchObject({ error: { reason: 'KEY_UNKNOWN' } });
  }
  const opened = await signIn(url, 'right');
  expect(await opened.json()).toEqual({ name: 'vera', role: 'viewer', methods: ['ListRuns'] });
  const cookie = opened.headers.get('set-cookie')!;
  expect(cookie).toBe('stageplane_key=right; Path=/; HttpOnly; SameSite=Strict');
  const known = await fetch(`${url}/session`, { headers: { cookie: cookie.split(';')[0]! } });
  expect(await known.json()).toMatchObject({ name: 'vera' });
  const left = await fetch(`${url}/session`, { method: 'DELETE' });
  expect(left.headers.get('set-cookie')).toMatch(/stageplane_key=; .*Expires=Thu, 01 Jan 1970/);
});

test('over TLS the cookie travels over TLS alone', async () => {
  const opened = await signIn(await open(true), 'right');
  expect(opened.headers.get('set-cookie')).toMatch(/; Secure/);
});
