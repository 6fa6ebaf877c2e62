import { join } from 'node:path';
import pino from 'pino';
import { expect, it, test } from 'vitest';
import {
  AdminServiceClient,
  type AuditEvent,
  ListAuditEventsRequest,
  AdminServiceService as Service,
} from '../../gen/stageplane/v1/admin_service.js';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Public,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { wallMillis } from '../../src/core/ids.js';
import { limits } from '../../src/core/limits.js';
import { dial, streamCall, unaryCall } from '../../src/grpc/client.js';
import { descriptorSet } from '../../src/grpc/descriptor-set.js';
import { AuditLog } from '../../src/orchestrator/audit/audit-log.js';
import { audited } from '../../src/orchestrator/audit/audited.js';
import {
  auditedAdminMethods,
  auditedCertificateMethods,
  auditedEnrollmentMethods,
  auditedOrchestratorMethods,
} from '../../src/orchestrator/audit/audited-methods.js';
import { Repeats } from '../../src/orchestrator/audit/repeats.js';
import { systemClock } from '../../src/orchestrator/clock.js';
import { renew } from '../../src/pki/renew.js';
import type { AuditIdentity } from '../../src/store/audit-record.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import { samplePlan } from '../core/machine/samples.js';
import { sampleRecord } from '../store/sample-changes.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { forged, runSecured } from '../support/secured-orchestrator.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const settled = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error: { reason: string }) => error.reason,
  );

/** A secured orchestrator, a launcher, and what the audit log says. */
async function administer() {
  const orchestrator = await runSecured();
  const { credentials } = await orchestrator.enrol('launcher', 'laptop');
  const client = orchestrator.call(OrchestratorServiceClient, credentials);
  const operator = orchestrator.call(OrchestratorServiceClient, orchestrator.operator.credentials);
  const list = (parts: Partial<ListAuditEventsRequest> = {}) =>
    unaryCall(orchestrator.admin, Service.listAuditEvents, ListAuditEventsRequest.create(parts));
  const events = async (parts: Partial<ListAuditEventsRequest> = {}) => (await list(parts)).events;
  return { ...orchestrator, client, operator, list, events };
}

const short = ({ kind, identity, action, subject, code, reason }: AuditEvent) =>
  [kind, identity, action.split('/')[1], subject, code, reason].join(' | ');

/** Methods that only look; whatever changes something is not among them. */
const looks = [
  'GetServerInfo ListAuditEvents ListJoinTokens ListCertificates ListApiKeys',
  'InspectModel PlanRun GetRun ListRuns WatchRun WatchEvents GetStageLog ListNodes GetNode WatchNodes',
  // An agent's session: what its agent reports is in the events of the runs.
  'Subscribe',
].flatMap((names) => names.split(' '));

test('every method is recorded, or only looks', () => {
  const methods = [...descriptorSet().registry]
    .filter((type) => type.kind === 'service')
    .filter(({ typeName }) => typeName.startsWith('stageplane.'))
    .flatMap((service) => service.methods.map(({ name }) => name));
  const recorded = Object.keys({
    ...auditedAdminMethods,
    ...auditedCertificateMethods,
    ...auditedEnrollmentMethods,
    ...auditedOrchestratorMethods,
  }).map((name) => name.charAt(0).toUpperCase() + name.slice(1));
  expect([...recorded, ...looks].sort()).toEqual(methods.sort());
});

it('tells who did what to runs, nodes, tokens and certificates, and what came of it', async () => {
  const { client, operator, admin, events, enrol, redeem, token } = await administer();
  await enrol('agent', 'alpha');
  const plan = samplePlan([2n]);
  await unaryCall(client, Public.createRun, { requestId: 'monday', plan });
  await unaryCall(operator, Public.cordonNode, { nodeId: 2n });
  await unaryCall(operator, Public.uncordonNode, { nodeId: 2n });
  for await (const _ of streamCall(operator, Public.drainNode, { nodeId: 2n, deadlineMillis: 0n })) break;
  expect(await settled(unaryCall(client, Public.stopRun, { runId: 9n }))).toBe('RUN_NOT_FOUND');
  expect(await settled(unaryCall(client, Public.deleteNode, { nodeId: 2n }))).toBe('ROLE_MISSING');
  await unaryCall(operator, Public.deleteNode, { nodeId: 2n });
  await unaryCall(admin, Service.setLogLevel, { level: 'error' });
  const path = join(temporaryFolder(), 'copy');
  await unaryCall(admin, Service.backup, { path, force: false });
  expect(await settled(redeem(forged(await token()), 'mallory'))).toBe('TOKEN_UNKNOWN');
  const told = (await events({ pageSize: 100 })).map(short).reverse();
  for (const line of [
    /^change \| 127\.0\.0\.1 without a certificate \| Enroll \| launcher "laptop", certificate [0-9a-f]+ \| OK \| $/,
    /^change \| \S+ on this machine \| CreateJoinToken \| token [0-9a-f]{12} for launcher of any name \| OK \| $/,
    /^use \| \S+ on this machine \| SetLogLevel \| log level error \| OK \| $/,
    /^change \| 127\.0\.0\.1 without a certificate \| Enroll \| agent "alpha", certificate [0-9a-f]+ \| OK \| $/,
    /^change \| admin \S+ \| CordonNode \| node 2 \| OK \| $/,
    /^change \| admin \S+ \| UncordonNode \| node 2 \| OK \| $/,
    /^change \| admin \S+ \| DrainNode \| node 2 \| OK \| $/,
    /^refusal \| launcher laptop \| StopRun \| run 9 \| NOT_FOUND \| RUN_NOT_FOUND$/,
    /^refusal \| launcher laptop \| DeleteNode \| {2}\| PERMISSION_DENIED \| ROLE_MISSING$/,
    /^change \| admin \S+ \| DeleteNode \| node 2 \| OK \| $/,
    /^use \| \S+ on this machine \| Backup \| \/.*copy \| OK \| $/,
    /^refusal \| 127\.0\.0\.1 without a certificate \| Enroll \| "mallory" \| PERMISSION_DENIED \| TOKEN_UNKNOWN$/,
  ])
    expect(
      told.filter((one) => line.test(one)),
      `${line} in\n${told.join('\n')}`,
    ).toHaveLength(1);
});

it('has the new certificate of a renewal, and all that a revocation ends', async () => {
  const { address, admin, events, enrol } = await administer();
  const alpha = await enrol('agent', 'alpha');
  await renew(address, alpha.credentials);
  const { certificates } = await unaryCall(admin, Service.listCertificates, {});
  const serials = certificates.filter(({ name }) => name === 'alpha').map(({ serial }) => serial);
  await unaryCall(admin, Service.revokeCertificate, { serial: serials[0]! });
  expect(await settled(renew(address, alpha.credentials))).toBe('CERTIFICATE_REVOKED');
  const [refused, revoked, renewed] = await events();
  const ofAlpha = { identity: 'agent alpha', role: 'agent', name: 'alpha', address: '127.0.0.1' };
  expect(renewed).toMatchObject({ ...ofAlpha, kind: 'change', nodeId: 2n, code: 'OK' });
  expect(serials).toContain(renewed!.serial);
  expect(renewed!.subject).toBe(`certificate ${serials.find((serial) => serial !== renewed!.serial)}`);
  for (const serial of serials) expect(revoked!.subject).toContain(serial);
  expect(refused).toMatchObject({
    ...ofAlpha,
    kind: 'refusal',
    code: 'PERMISSION_DENIED',
    reason: 'CERTIFICATE_REVOKED',
  });
});

it('counts what is repeated and changes nothing: a flood of it is a few records, and pushes nothing out', async () => {
  const { client, events, call, enrol } = await administer();
  await unaryCall(client, Public.createRun, { requestId: 'r', plan: samplePlan([2n]) }).catch(() => {});
  const before = (await events({ pageSize: 1000 })).length;
  for (let run = 1n; run <= 300n; run++) await settled(unaryCall(client, Public.stopRun, { runId: run }));
  const viewer = call(OrchestratorServiceClient, (await enrol('viewer', 'vera')).credentials);
  for (let time = 0; time < 100; time++) await settled(unaryCall(viewer, Public.deleteRun, { runId: 1n }));
  const after = await events({ pageSize: 1000 });
  expect(after.filter(({ kind }) => kind === 'refusal').map(short)).toEqual([
    expect.stringContaining('viewer vera | DeleteRun'),
    expect.stringContaining('launcher laptop | StopRun'),
    ...after
      .slice(-before)
      .filter(({ kind }) => kind === 'refusal')
      .map(short),
  ]);
});

test('who hangs up before the turn of what was asked is told of all the same', async () => {
  const store = new MemoryStore({ newClusterId: () => 'c' });
  const audit = new AuditLog(store, systemClock, pino({ level: 'silent' }));
  let takeTurn = () => {};
  const turn = new Promise<void>((resolve) => {
    takeTurn = resolve;
  });
  const hungUp = Promise.resolve({ kind: 'gone' });
  const call = 1 as never;
  const drainNode = async (_request: unknown, _writer: unknown, context: object) => {
    audit.asks(call, { kind: 'node-drain-requested' } as never, context);
    await turn;
    const { records, confirm } = audit.testify(
      [{ kind: 'answer', call, answer: { kind: 'node', nodeId: 2n } } as never],
      wallMillis(5),
    );
    store.addAudit(records);
    confirm();
  };
  const { drainNode: method } = Public;
  const bodies = audited(
    { drainNode: method },
    { drainNode } as never,
    { drainNode: auditedOrchestratorMethods.drainNode! },
    audit,
  );
  const context = { certificate: undefined, peer: 'unknown', signal: new AbortController().signal } as never;
  const over = (bodies.drainNode as never as (...parts: unknown[]) => Promise<void>)(
    { nodeId: 2n },
    { closed: hungUp },
    context,
  );
  await hungUp;
  takeTurn();
  await over;
  audit.stop();
  expect(store.auditRecords({ limit: 9 })).toMatchObject([{ kind: 'change', code: 'OK', target: 'node 2' }]);
});

test('strangers, however many, do not hide what holders of certificates were refused', () => {
  const repeats = new Repeats();
  const refusal = (by: Partial<AuditIdentity>) =>
    repeats.take(sampleRecord(1, { kind: 'refusal', by: { ...sampleRecord(1).by, ...by } }));
  const strangers = Array.from({ length: 500 }, (_, at) =>
    refusal({ kind: 'stranger', serial: '', name: '', address: `2001:db8::${at}` }),
  );
  expect(strangers.filter((record) => record !== undefined)).toHaveLength(limits.auditPerWindow);
  expect(refusal({ kind: 'certificate', serial: 'a1' })).toMatchObject({ by: { serial: 'a1' } });
  expect(repeats.drain()).toMatchObject([{ by: { kind: 'several' }, count: 400 }]);
});

it('pages backwards, goes on where a reader was, and filters', async () => {
  const { operator, list, events, enrol } = await administer();
  for (const name of ['alpha', 'beta', 'gamma']) await enrol('agent', name);
  for (const nodeId of [2n, 3n, 4n]) await unaryCall(operator, Public.cordonNode, { nodeId });
  const all = await events();
  const paged: AuditEvent[] = [];
  for (let pageToken = ''; ; ) {
    const page = await list({ pageSize: 3, pageToken });
    paged.push(...page.events);
    pageToken = page.nextPageToken;
    if (pageToken === '') break;
  }
  expect(paged).toEqual(all);
  expect(all.map(({ eventId }) => eventId)).toEqual(all.map(({ eventId }) => eventId).sort((a, b) => (a < b ? 1 : -1)));
  const from = all[3]!.eventId;
  expect(await events({ afterEventId: from })).toEqual(all.slice(0, 3).reverse());
  expect(await events({ afterEventId: 2n ** 64n - 1n })).toEqual([]);
  expect((await events({ nodeId: 3n, method: 'CordonNode' })).map(({ subject }) => subject)).toEqual(['node 3']);
  expect(await events({ runId: 2n ** 64n - 1n })).toEqual([]);
  expect((await events({ by: all[0]!.serial })).length).toBe(3);
  expect(await events({ since: new Date(Date.now() + 60_000) })).toEqual([]);
  expect(await settled(list({ afterEventId: 1n, pageToken: 'x' }))).toBe('INVALID_FIELDS');
  expect(await settled(list({ pageToken: 'x' }))).toBe('INVALID_PAGE_TOKEN');
});

it('knows a change after a restart, and what had been counted when it stopped', async () => {
  const { dataFolder, client, stop } = await runOrchestrator();
  const create = { requestId: 'r', plan: samplePlan([9n]) };
  const { outcome } = await unaryCall(client, Public.createRun, create);
  expect(outcome?.$case).toBe('rejection');
  for (const _ of [1, 2, 3]) await settled(unaryCall(client, Public.stopRun, { runId: 5n }));
  await stop();
  const again = await runOrchestrator({ dataFolder });
  const admin = dial(`unix:${again.adminSocket}`, AdminServiceClient);
  const { events } = await unaryCall(admin, Service.listAuditEvents, ListAuditEventsRequest.create());
  admin.close();
  const who = '127.0.0.1 without a certificate';
  expect(events.map((event) => [short(event), event.count])).toEqual([
    [`refusal | ${who} | StopRun | run 5 | NOT_FOUND | RUN_NOT_FOUND`, 2],
    [`refusal | ${who} | StopRun | run 5 | NOT_FOUND | RUN_NOT_FOUND`, 1],
    [`use | ${who} | CreateRun | request "r" | OK | PLAN_REJECTED`, 1],
  ]);
});

it('tells what changed something from what only asked for it again', async () => {
  const { events, operator, enrol } = await administer();
  await enrol('agent', 'alpha');
  await unaryCall(operator, Public.cordonNode, { nodeId: 2n });
  await unaryCall(operator, Public.cordonNode, { nodeId: 2n });
  const kinds = (await events({ method: 'CordonNode' })).map(({ kind }) => kind);
  expect(kinds).toEqual(['use', 'change']);
});
