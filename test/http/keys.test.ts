import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AdminServiceService as Admin, AdminServiceClient } from '../../gen/stageplane/v1/admin_service.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { runSecured } from '../support/secured-orchestrator.js';

const http = '127.0.0.1:0';

function adminOf({ adminSocket }: { readonly adminSocket: string }) {
  const admin = dial(`unix:${adminSocket}`, AdminServiceClient);
  return {
    close: () => admin.close(),
    create: (name: string, role = '', ttlMillis = 0n) =>
      unaryCall(admin, Admin.createApiKey, { name, role, ttlMillis }),
    list: async () => (await unaryCall(admin, Admin.listApiKeys, {})).keys,
    revoke: (keyId: string) => unaryCall(admin, Admin.revokeApiKey, { keyId }),
    audit: async (method: string) =>
      (
        await unaryCall(admin, Admin.listAuditEvents, {
          method,
          pageSize: 0,
          pageToken: '',
          by: '',
          runId: 0n,
          nodeId: 0n,
        })
      ).events,
  };
}

async function ask(url: string | undefined, path: string, key?: string) {
  const headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) };
  const response = await fetch(`${url}${path}`, {
    headers,
    ...(path.startsWith('/api') && { method: 'POST', body: '{}' }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

it('lets in by key and role, in the words of the door that was asked, until the key is revoked', async () => {
  const secured = await runSecured({ http });
  const { httpUrl } = secured;
  const admin = adminOf(secured);
  const { key, created } = await admin.create('editor');
  expect(key).toMatch(/^sk-stageplane-[\w-]{43}$/);
  expect(created).toMatchObject({ name: 'editor', role: 'launcher', expiresAt: undefined });
  const viewer = await admin.create('wall', 'viewer');
  expect(await ask(httpUrl, '/v1/models', key)).toMatchObject({ status: 200, body: { data: [] } });
  expect(await ask(httpUrl, '/v1/models', viewer.key)).toMatchObject({ status: 200 });
  expect(await ask(httpUrl, '/api/StopRun', viewer.key)).toMatchObject({
    status: 403,
    body: { error: { reason: 'ROLE_MISSING', message: expect.stringContaining('"wall"') } },
  });
  expect(await ask(httpUrl, '/v1/models')).toMatchObject({
    status: 401,
    body: { error: { code: 'invalid_api_key', type: 'invalid_request_error' } },
  });
  expect(await ask(httpUrl, '/v1/models', `${key}x`)).toMatchObject({ status: 401 });

  expect(await admin.list()).toMatchObject([{ name: 'editor' }, { name: 'wall' }]);
  expect(await admin.revoke(created!.keyId)).toEqual({ name: 'editor' });
  expect(await ask(httpUrl, '/v1/models', key)).toMatchObject({ status: 401 });
  await expect(admin.revoke(created!.keyId)).rejects.toMatchObject({ reason: 'KEY_NOT_FOUND' });
  expect(await admin.list()).toMatchObject([{ name: 'wall' }]);
  admin.close();
});

it('ends what is being answered to a key that is revoked, or expires, and to no other', async () => {
  const orchestrator = await runOrchestrator({ http });
  const admin = adminOf(orchestrator);
  const watch = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${orchestrator.httpUrl}/api/WatchNodes`, { headers });
    const reader = response.body!.getReader();
    await reader.read();
    return response.ok ? reader : undefined;
  };
  type Reader = NonNullable<Awaited<ReturnType<typeof watch>>>;
  const drained = async (reader: Reader) => {
    while (!(await reader.read()).done);
  };
  /** A machine that is busy may let a key in only when its time is over. */
  const watchBriefly = async (ttlMillis = 300n): Promise<Reader> => {
    const { key } = await admin.create(`brief-${ttlMillis}`, '', ttlMillis);
    return (await watch(key).catch(() => undefined)) ?? watchBriefly(2n * ttlMillis);
  };
  const [one, two] = [await admin.create('one'), await admin.create('two')];
  const [ofOne, ofTwo] = [(await watch(one.key))!, (await watch(two.key))!];
  const ofBrief = await watchBriefly();
  // A reader of a stream that is cut short is told so, and not that it ended.
  await expect(drained(ofBrief)).rejects.toThrow();
  await admin.revoke(one.created!.keyId);
  await expect(drained(ofOne)).rejects.toThrow();
  expect(await admin.list()).toMatchObject([{ name: 'two' }]);
  const still = await Promise.race([
    drained(ofTwo).catch(() => 'cut'),
    ask(orchestrator.httpUrl, '/v1/models', two.key),
  ]);
  expect(still).toMatchObject({ status: 200 });
  await ofTwo.cancel();
  admin.close();
});

it('keeps keys over a restart, and their text nowhere', async () => {
  const first = await runSecured({ http });
  const admin = adminOf(first);
  const { key, created } = await admin.create('editor', 'admin');
  const { dataFolder } = first;
  admin.close();
  await first.stop();
  for (const name of readdirSync(dataFolder, { recursive: true, encoding: 'utf8' })) {
    const path = join(dataFolder, name);
    if (statSync(path).isFile()) expect(readFileSync(path).includes(key.slice(-43)), name).toBe(false);
  }
  const second = await runSecured({ http, dataFolder });
  const again = adminOf(second);
  expect(await ask(second.httpUrl, '/api/ListNodes', key)).toMatchObject({ status: 200 });
  const [event] = await again.audit('CreateApiKey');
  expect(event).toMatchObject({ subject: `key ${created!.keyId} for admin "editor"`, code: 'OK' });
  again.close();
});

it('answers only so many wrong keys of one address, counts them in the audit log, and lets the right one in', async () => {
  const secured = await runSecured({ http });
  const admin = adminOf(secured);
  const { key } = await admin.create('editor');
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) => ask(secured.httpUrl, '/v1/models', `wrong-${i}`)),
  );
  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(20);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]!.headers.get('retry-after')).toBe('1');
  expect(await ask(secured.httpUrl, '/v1/models', key)).toMatchObject({ status: 200 });
  const [event] = await admin.audit('HTTP');
  expect(event).toMatchObject({
    kind: 'refusal',
    code: 'UNAUTHENTICATED',
    reason: 'KEY_UNKNOWN',
    address: '127.0.0.1',
  });
  admin.close();
});

it('makes no key of what is no name, no role or too long a time', async () => {
  const secured = await runSecured({ http });
  const admin = adminOf(secured);
  for (const [name, role, ttl] of [
    ['', '', 0n],
    ['two words', '', 0n],
    ['fine', 'agent', 0n],
    ['fine', '', 2n ** 63n],
  ] as const) {
    await expect(admin.create(name, role, ttl)).rejects.toMatchObject({ reason: 'INVALID_FIELDS' });
  }
  expect(await admin.list()).toEqual([]);
  admin.close();
});

it('signs a browser in with the key of its header, and counts wrong ones there as everywhere', async () => {
  const secured = await runSecured({ http });
  const admin = adminOf(secured);
  const { key } = await admin.create('wall', 'viewer');
  const signIn = (shown: string) =>
    fetch(`${secured.httpUrl}/session`, { method: 'POST', headers: { authorization: `Bearer ${shown}` } });
  const right = await signIn(key);
  expect(await right.json()).toMatchObject({ name: 'wall', role: 'viewer' });
  const [cookie = ''] = right.headers.getSetCookie();
  expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/);
  const headers = { cookie: cookie.split(';')[0]! };
  expect((await fetch(`${secured.httpUrl}/v1/models`, { headers })).status).toBe(200);
  const wrong = await Promise.all(Array.from({ length: 60 }, () => signIn('wrong')));
  expect(wrong.map(({ status }) => status)).toContain(429);
  expect(wrong.every((one) => one.headers.getSetCookie().length === 0)).toBe(true);
  admin.close();
});
