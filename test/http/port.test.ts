import { request as httpRequest } from 'node:http';
import { expect, it } from 'vitest';
import { OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import { unaryCall } from '../../src/grpc/client.js';
import { samplePlan } from '../core/machine/samples.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { runSecured } from '../support/secured-orchestrator.js';

const http = '127.0.0.1:0';

async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** `fetch` sets Host itself. */
function statusWithHost(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { hostname, port, pathname } = new URL(url);
    const headers = { host, 'content-type': 'application/json' };
    const request = httpRequest({ hostname, port, path: pathname, method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.once('error', reject);
    request.end('{}');
  });
}

it('answers every method as JSON, and says why not in the same way as gRPC', async () => {
  const { httpUrl } = await runOrchestrator({ http });
  expect(await post(`${httpUrl}/api/ListRuns`, {})).toMatchObject({
    status: 200,
    body: { runs: [], nextPageToken: '' },
  });
  expect(await post(`${httpUrl}/api/GetRun`, { runId: '7' })).toMatchObject({
    status: 404,
    body: { error: { reason: 'RUN_NOT_FOUND', message: expect.stringContaining('7') } },
  });
  expect(await post(`${httpUrl}/api/GetRun`, { runId: 'seven' })).toMatchObject({
    status: 400,
    body: { error: { reason: 'MALFORMED_MESSAGE', message: expect.stringContaining('seven') } },
  });
  expect(await post(`${httpUrl}/api/CreateRun`, { requestId: '' })).toMatchObject({
    status: 400,
    body: { error: { reason: 'INVALID_FIELDS', fieldViolations: expect.arrayContaining([]) } },
  });
  expect(await post(`${httpUrl}/api/GetRun`, '{')).toMatchObject({
    status: 400,
    body: { error: { message: expect.any(String) } },
  });
  expect(await post(`${httpUrl}/api/Nothing`, {})).toMatchObject({
    status: 404,
    body: { error: { reason: 'NO_SUCH_PAGE' } },
  });
  expect((await fetch(`${httpUrl}/healthz`)).status).toBe(200);
});

it('bounds what it reads', async () => {
  const { httpUrl } = await runOrchestrator({ http });
  const large = JSON.stringify({ pageToken: 'x'.repeat(3 * 1024 * 1024) });
  expect((await post(`${httpUrl}/api/ListRuns`, large).catch(() => ({ status: 413 }))).status).toBe(413);
  expect((await post(`${httpUrl}/api/ListRuns`, {}, { 'x-a': 'y'.repeat(20_000) })).status).toBe(431);
});

it('reads nothing that is nested deep, in which it would lose seconds', async () => {
  const { httpUrl } = await runOrchestrator({ http });
  const deep = `{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`;
  for (const path of ['/api/ListRuns', '/v1/completions']) {
    expect(await post(`${httpUrl}${path}`, deep)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('nested deeper than 64') } },
    });
  }
  const text = JSON.stringify({ pageToken: `\\"${'['.repeat(500)}` });
  expect(await post(`${httpUrl}/api/ListRuns`, text)).toMatchObject({
    body: { error: { message: expect.stringContaining('page token') } },
  });
});

it('streams what a watch says, and ends with a word', async () => {
  const { httpUrl } = await runOrchestrator({ http });
  const response = await fetch(`${httpUrl}/api/WatchRun?request=${encodeURIComponent('{"runId":"7"}')}`);
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const text = await response.text();
  expect(text).toMatch(/event: refused\ndata: .*RUN_NOT_FOUND/);

  const abort = new AbortController();
  const nodes = await fetch(`${httpUrl}/api/WatchNodes`, { signal: abort.signal });
  const reader = nodes.body!.pipeThrough(new TextDecoderStream()).getReader();
  let seen = '';
  while (!seen.includes('"progress"')) seen += (await reader.read()).value ?? '';
  abort.abort();
});

/** Server-sent events until there are so many with an id; what came before is in the text. */
async function readUntilIds(response: Response, ids: number): Promise<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while ((text.match(/^id: \d+$/gm) ?? []).length < ids) text += (await reader.read()).value ?? '';
  await reader.cancel();
  return text;
}

it('goes on with a watch of all runs after the last bookmark that a browser has', async () => {
  const { httpUrl, client, address } = await runOrchestrator({ http });
  await ScriptedAgent.join(address, 'alpha');
  const url = `${httpUrl}/api/WatchEvents?request=${encodeURIComponent('{"last":100}')}`;
  await unaryCall(client, OrchestratorServiceService.createRun, { requestId: 'r', plan: samplePlan([2n]) });
  const first = await readUntilIds(await fetch(url), 1);
  const bookmark = /^id: (\d+)$/m.exec(first)![1]!;
  expect(first).toMatch(/"runId":"1"/);
  await unaryCall(client, OrchestratorServiceService.stopRun, { runId: 1n });
  const second = await readUntilIds(await fetch(url, { headers: { 'last-event-id': bookmark } }), 1);
  const revisions = [...second.matchAll(/"event":\{"revision":"(\d+)"/g)].map(([, revision]) => BigInt(revision!));
  expect(revisions.length).toBeGreaterThan(0);
  expect(revisions.every((revision) => revision > BigInt(bookmark))).toBe(true);
});

it('answers no page of another site, and no name that is not of this machine', async () => {
  const { httpUrl } = await runOrchestrator({ http });
  const url = `${httpUrl}/api/ListRuns`;
  expect(await post(url, {}, { origin: 'https://evil.example' })).toMatchObject({
    status: 403,
    body: { error: { reason: 'FOREIGN_ORIGIN' } },
  });
  expect(await post(url, {}, { origin: 'null' })).toMatchObject({ status: 403 });
  expect(await post(url, {}, { 'sec-fetch-site': 'cross-site' })).toMatchObject({ status: 403 });
  expect(await post(url, {}, { 'sec-fetch-site': 'same-site' })).toMatchObject({ status: 403 });
  expect(await post(url, {}, { 'sec-fetch-site': 'same-origin' })).toMatchObject({ status: 200 });
  expect(await post(url, {}, { origin: httpUrl! })).toMatchObject({ status: 200 });
  expect(await statusWithHost(url, 'localhost:80')).toBe(200);
  expect(await statusWithHost(url, '127.0.0.1')).toBe(200);
  expect(await statusWithHost(url, 'rebound.evil.example')).toBe(401);
  expect(await statusWithHost(url, '127.0.0.1.evil.example')).toBe(401);
  expect(await post(url, {}, { 'x-forwarded-for': '10.0.0.1' })).toMatchObject({ status: 401 });
  expect(await post(url, {}, { authorization: 'Bearer none' })).toMatchObject({ status: 200 });
});

it('asks everybody for a key where there are certificates', async () => {
  const { httpUrl } = await runSecured({ http });
  expect(await post(`${httpUrl}/api/ListRuns`, {})).toMatchObject({
    status: 401,
    body: { error: { reason: 'KEY_NEEDED' } },
  });
  expect(await post(`${httpUrl}/api/ListRuns`, {}, { authorization: 'Bearer none' })).toMatchObject({
    status: 401,
    body: { error: { reason: 'KEY_UNKNOWN' } },
  });
  expect((await fetch(`${httpUrl}/healthz`)).status).toBe(200);
});

it('ends streams when the orchestrator stops, and the stop ends', async () => {
  const { httpUrl, stop } = await runOrchestrator({ http });
  const nodes = await fetch(`${httpUrl}/api/WatchNodes`);
  const text = nodes.text();
  await stop();
  expect(await text).toMatch(/event: refused\ndata: .*SHUTTING_DOWN/);
});

it('starts without HTTP where nobody asked for it and its port is taken, and says so where somebody did', async () => {
  const { httpUrl } = await runOrchestrator({ http });
  const taken = { http: new URL(httpUrl!).host };
  expect(await runOrchestrator({ ...taken, isHttpOptional: true })).toMatchObject({ httpUrl: undefined });
  await expect(runOrchestrator(taken)).rejects.toMatchObject({
    reason: 'ADDRESS_IN_USE',
    message: expect.stringContaining('--http'),
  });
});
