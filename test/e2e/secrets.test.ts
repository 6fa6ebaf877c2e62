import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Metadata } from '@grpc/grpc-js';
import { afterAll, expect, it } from 'vitest';
import {
  AdminServiceService as Admin,
  AdminServiceClient,
  ListAuditEventsRequest,
} from '../../gen/stageplane/v1/admin_service.js';
import {
  CreateRunRequest,
  GenerateRequest,
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunPhase } from '../../gen/stageplane/v1/run.js';
import { limits } from '../../src/core/limits.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { dial, streamCall, unaryCall } from '../../src/grpc/client.js';
import { clientOptions } from '../../src/grpc/client-options.js';
import { join as redeem } from '../../src/pki/join.js';
import { descendantsOf } from '../../src/process/descendants.js';
import { Child, stageplane } from '../cli/child.js';
import { watchUntil } from '../support/running-orchestrator.js';
import { credentialsOf, forged, parsed } from '../support/secured-orchestrator.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const folder = temporaryFolder(afterAll);
const data = join(folder, 'orchestrator');
const agentData = join(folder, 'alpha');
const environment = {
  XDG_RUNTIME_DIR: join(folder, 'run'),
  STAGEPLANE_LOG_LEVEL: 'trace',
  DATABASE_PASSWORD: 'mark-environment-3141',
  AWS_SECRET_ACCESS_KEY: 'mark-environment-3141',
};

/** Texts that must be nowhere, by what they are. */
const marks = new Map<string, string>([['environment', environment.DATABASE_PASSWORD]]);
const mark = (what: string, text: string) => {
  marks.set(what, text);
  return text;
};

/** A secret as it may lie about: as it is, in hexadecimal, in base64 at any offset, and as tokens of one byte each. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    return text.slice(shift + 1, -2);
  });
  const listed = [',', ', ', ' '].map((between) => [...bytes].join(between));
  return [
    secret,
    bytes.toString('hex'),
    ...shifted,
    ...shifted.map((text) => text.replace(/\+/g, '-').replace(/\//g, '_')),
    ...listed,
  ];
}

function expectNone(where: string, text: string, except: readonly string[] = []): void {
  for (const [what, secret] of marks) {
    if (except.includes(what)) continue;
    const found = formsOf(secret).find((form) => text.includes(form));
    const at = found === undefined ? -1 : text.indexOf(found);
    expect(found && `${what} in ${where}: ${text.slice(Math.max(0, at - 200), at + 80)}`).toBeUndefined();
  }
}

function filesOf(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((file) => statSync(file).isFile());
}

const errors: string[] = [];
const said = (error: unknown) => {
  const { message, reason, fieldViolations, metadata } = error as Record<string, unknown>;
  errors.push(JSON.stringify({ message, reason, fieldViolations, metadata }));
};

it('No log, process list, audit record or error has a prompt, a text, a token, a key or what the environment has', async () => {
  const models = temporaryFolder(afterAll);
  // A template that quotes what it does not take.
  const chatTemplate = "{{ raise_exception('I do not like ' ~ messages[0].content) }}";
  const [model] = await writeTinyModel(join(models, 'tiny.gguf'), { chatTemplate });
  await stageplane(['init', '--data', data], environment);
  const words = ['--listen', '127.0.0.1:0', '--enroll-listen', '127.0.0.1:0', '--data', data, '--models', models];
  const orchestrator = new Child(['orchestrator', '--json', ...words], environment);
  await orchestrator.shown('stdout', '\n');
  const { address, enrollAddress, adminSocket } = JSON.parse(orchestrator.stdout);
  const tokenFor = async (role: string, what: string) => {
    const { stdout } = await stageplane(['token', 'create', '--data', data, '--role', role], environment);
    mark(what, stdout.trim().split('.')[2]!);
    return stdout.trim();
  };

  const token = await tokenFor('agent', 'join token');
  const where = ['--orchestrator', address, '--enroll', enrollAddress, '--name', 'alpha', '--models', models];
  const agent = new Child(['agent', ...where, '--data', agentData, '--join', token], environment);
  await agent.shown('stderr', 'reconciled');
  const wrong = forged(token);
  mark('wrong token', wrong.split('.')[2]!);
  const refused = await stageplane(['join', wrong, '--orchestrator', address, '--enroll', enrollAddress], environment);
  expect(refused.code).toBe(1);
  const joined = await redeem({
    address: enrollAddress,
    token: parsed(await tokenFor('launcher', 'launcher token')),
    name: 'lena',
    defaultName: '',
    instanceId: '',
  });
  const client = dial(address, OrchestratorServiceClient, clientOptions, credentialsOf(joined.credentials));

  const prompt = mark('prompt', 'mark-prompt-2718 of a secret affair');
  const create = async (requestId: string, runtime: object, more: object = {}) => {
    const plan = { model: { source: { $case: 'localPath', value: model } }, stageCount: 1, runtime, ...more };
    const settings = { engine: 'fixture', contextLength: 512, sessions: 1 };
    const request = CreateRunRequest.fromPartial({ requestId, plan: { settings, ...plan } } as object);
    const { outcome } = await unaryCall(client, Service.createRun, request);
    return outcome?.$case === 'run' ? outcome.value.runId : 0n;
  };
  const inline = (value: string) => ({ prompt: { source: { $case: 'inline', value } } });
  const ask = async (parts: object) => {
    let text = '';
    for await (const response of streamCall(client, Service.generate, GenerateRequest.fromPartial(parts as object)))
      text += response.text;
    return text;
  };

  const runId = await create('serving', { maxTokens: 40 });
  await watchUntil(client, runId, RunPhase.RUN_PHASE_RUNNING);
  const workers = [...descendantsOf(orchestrator.process.pid!), ...descendantsOf(agent.process.pid!)];
  const processList = [orchestrator.process.pid!, agent.process.pid!, ...workers].map((pid) => {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    // What a daemon starts gets nothing of its environment but what it needs.
    return workers.includes(pid) ? `${words} ${readFileSync(`/proc/${pid}/environ`, 'utf8')}` : words;
  });
  expect(workers.length).toBeGreaterThanOrEqual(2);
  const text = await ask({ runId, runtime: inline(prompt) });
  expect(text.length).toBeGreaterThan(12);
  mark('text', text);
  await ask({ runId: 99n, runtime: inline(prompt) }).catch(said);
  await ask({ runId, runtime: inline(prompt + 'x'.repeat(limits.promptBytes)) }).catch(said);
  await ask({ runId, runtime: inline(prompt.repeat(100)) }).catch(said);
  await ask({ runId, runtime: { ...inline(prompt), maxTokens: 1000 } }).catch(said);
  await ask({ runId, messages: [{ role: 'user', content: prompt }] }).catch(said);
  await ask({ runId, runtime: inline(prompt), conversation: 'c'.repeat(200) }).catch(said);
  await askInvalid(client, Buffer.concat([Buffer.from(prompt), Buffer.from([0xff, 0xfe])])).catch(said);
  // Runs that answer by themselves: one does, one's prompt is too long, one's template refuses it, one is never planned.
  const oneShot = await create('one-shot', { maxTokens: 20, ...inline(prompt) });
  await watchUntil(client, oneShot, RunPhase.RUN_PHASE_DONE);
  const tooLong = await create('too-long', { maxTokens: 20, ...inline(prompt.repeat(100)) });
  await watchUntil(client, tooLong, RunPhase.RUN_PHASE_DONE);
  const userMessage = { prompt: { source: { $case: 'userMessage', value: prompt } } };
  const quoted = await create('quoted', { maxTokens: 20, ...userMessage }).catch(said);
  if (quoted) await watchUntil(client, quoted, RunPhase.RUN_PHASE_DONE);
  await create('too-many', { maxTokens: 20, ...inline(prompt) }, { stageCount: 600 }).catch(said);
  await create('one-shot', { maxTokens: 21, ...inline(prompt) }).catch(said);
  expect(errors.length).toBeGreaterThanOrEqual(8);

  const admin = dial(`unix:${adminSocket}`, AdminServiceClient);
  const listed = await unaryCall(admin, Admin.listAuditEvents, ListAuditEventsRequest.create({ pageSize: 1000 }));
  admin.close();
  client.close();
  const keys = filesOf(folder).filter((file) => /pki/.test(file) && readFileSync(file, 'utf8').includes('PRIVATE KEY'));
  expect(keys.length).toBeGreaterThanOrEqual(3);
  for (const file of keys) {
    const [, body = ''] = /PRIVATE KEY-----\n([\s\S]+?)-----END/.exec(readFileSync(file, 'utf8')) ?? [];
    // The end of a key's first line: what comes before is the same in all.
    mark(`key of ${file}`, body.split('\n')[0]!.slice(-24));
  }
  for (const child of [agent, orchestrator]) {
    child.process.kill('SIGTERM');
    expect((await child.end()).code).toBe(0);
  }

  expect(listed.events.length).toBeGreaterThan(8);
  expectNone(
    'the audit log',
    listed.events
      .map((event) => JSON.stringify(event, (_, value) => (typeof value === 'bigint' ? `${value}` : value)))
      .join('\n'),
  );
  expectNone('the errors', errors.join('\n'));
  expectNone('the process list', processList.join('\n'));
  for (const [name, child] of Object.entries({ orchestrator, agent })) {
    expectNone(`stderr of the ${name}`, child.stderr);
    expectNone(`stdout of the ${name}`, child.stdout);
  }
  expectNone('what a refused client says', refused.stdout + refused.stderr);
  for (const file of filesOf(folder)) {
    if (keys.includes(file)) continue;
    // A run's plan and answer are the run: they are in the database, and in nothing else.
    const own = file.includes('stageplane.db') ? ['prompt', 'text'] : [];
    expectNone(file, readFileSync(file, 'latin1'), own);
  }
}, 120_000);

/** A prompt that is no UTF-8, in bytes of one's own making. */
async function askInvalid(client: OrchestratorServiceClient, prompt: Buffer): Promise<void> {
  const field = (number: number, bytes: Buffer) =>
    Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
  const request = Buffer.concat([Buffer.from([8, 1]), field(2, field(2, field(1, prompt)))]);
  const { path, responseDeserialize } = Service.generate;
  const call = client.makeServerStreamRequest(path, Buffer.from, responseDeserialize, request, new Metadata(), {});
  for await (const _ of call);
}
