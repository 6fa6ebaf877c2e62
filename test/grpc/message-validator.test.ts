import { expect, test } from 'vitest';
import { GetServerInfoResponse } from '../../gen/stageplane/v1/admin_service.js';
import { SubscribeRequest } from '../../gen/stageplane/v1/node_agent_service.js';
import { CreateRunRequest, PlanRunRequest } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunMode } from '../../gen/stageplane/v1/planner.js';
import { limits } from '../../src/core/limits.js';
import { descriptorSet } from '../../src/grpc/descriptor-set.js';
import { fieldRules } from '../../src/grpc/field-rules.js';
import { createMessageValidator } from '../../src/grpc/message-validator.js';

const checkPlan = createMessageValidator('stageplane.v1.PlanRunRequest');
const checkCreate = createMessageValidator('stageplane.v1.CreateRunRequest');
const checkSession = createMessageValidator('stageplane.v1.SubscribeRequest');

/** What a server sees of a request: encoded and decoded again. */
function planRequest(plan: object): PlanRunRequest {
  const model = { source: { $case: 'localPath', value: 'model.gguf' } };
  const request = PlanRunRequest.fromPartial({ plan: { model, ...plan } } as never);
  return PlanRunRequest.decode(PlanRunRequest.encode(request).finish());
}

test('a good request has no violations', () => {
  const stages = [{ stageIndex: 0, nodeId: 2n }];
  expect(checkPlan(planRequest({ mode: RunMode.RUN_MODE_SERVING }))).toEqual([]);
  expect(checkPlan(planRequest({ placement: { $case: 'fixedLinear', value: { stages } } }))).toEqual([]);
});

test('an unknown enum number is refused by name, at any depth', () => {
  expect(checkPlan(planRequest({ mode: 99 }))).toEqual([
    {
      field: 'plan.mode',
      description:
        '99 is no RunMode this version knows; use RUN_MODE_ONE_SHOT, RUN_MODE_SERVING, or upgrade the orchestrator',
    },
  ]);
  const nested = planRequest({
    placement: { $case: 'automatic', value: { objective: 7 } },
    rings: { token: { dataCapacity: 1n, alignment: 1, hostPinning: 42 } },
  });
  expect(checkPlan(nested).map(({ field }) => field)).toEqual([
    'plan.automatic.objective',
    'plan.rings.token.host_pinning',
  ]);
});

test('an unset enum passes unless a rule asks for it', () => {
  expect(checkPlan(planRequest({ mode: RunMode.RUN_MODE_UNSPECIFIED }))).toEqual([]);
  const rules = { ...fieldRules, 'stageplane.v1.PlanRequest.mode': { required: true } } as const;
  const strict = createMessageValidator('stageplane.v1.PlanRunRequest', { registry: descriptorSet().registry, rules });
  expect(strict(planRequest({}))).toEqual([{ field: 'plan.mode', description: 'must be set' }]);
});

test('what is required and missing is named: strings, messages, oneofs', () => {
  expect(checkCreate(CreateRunRequest.fromPartial({}))).toEqual([
    { field: 'request_id', description: 'must be set' },
    { field: 'plan', description: 'must be set' },
  ]);
  const message = { $case: 'report', value: { reportId: 1n } } as const;
  expect(checkSession(SubscribeRequest.fromPartial({ message }))).toEqual([
    { field: 'report.report', description: 'must be set; to one of loading, ready, fault, stopped' },
  ]);
});

test('strings are measured in bytes, and lists and maps by their entries', () => {
  const byteful = 'ä'.repeat(limits.pathBytes / 2);
  const path = (value: string) => planRequest({ model: { source: { $case: 'localPath', value } } });
  expect(checkPlan(path(byteful))).toEqual([]);
  expect(checkPlan(path(`${byteful}x`))).toEqual([
    { field: 'plan.model.local_path', description: '1025 bytes are too many; at most 1024' },
  ]);

  const stages = Array.from({ length: limits.stagesPerRequest + 1 }, (_, stageIndex) => ({ stageIndex, nodeId: 2n }));
  expect(checkPlan(planRequest({ placement: { $case: 'fixedLinear', value: { stages } } }))).toEqual([
    { field: 'plan.fixed_linear.stages', description: '513 entries are too many; at most 512' },
  ]);

  const hello = (labels: Record<string, string>, engines: object[] = []) =>
    SubscribeRequest.fromPartial({
      message: {
        $case: 'hello',
        value: { name: 'alpha', instanceId: 'i', processId: 'p', descriptor: { labels }, engines },
      },
    } as never);
  expect(checkSession(hello({ rack: 'x'.repeat(1025) }))).toEqual([
    { field: 'hello.descriptor.labels["rack"]', description: '1025 bytes are too many; at most 1024' },
  ]);
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, '']));
  expect(checkSession(hello(many))).toEqual([
    { field: 'hello.descriptor.labels', description: '65 entries are too many; at most 64' },
  ]);
  const engines = [{ name: 'fixture' }, { name: '', deviceIds: ['cpu', 'd'.repeat(64)] }];
  expect(checkSession(hello({}, engines))).toEqual([
    { field: 'hello.engines[1].name', description: 'must be set' },
    { field: 'hello.engines[1].device_ids[1]', description: '64 bytes are too many; at most 63' },
  ]);
});

test('no request makes more violations than a person can read', () => {
  const caps = Array.from({ length: 500 }, () => ({ name: '' }));
  const message = { $case: 'heartbeat', value: { devices: caps.slice(0, 64) } } as const;
  expect(checkSession(SubscribeRequest.fromPartial({ message } as never))).toHaveLength(limits.violationsPerRejection);
});

test('an impossible time is a violation', () => {
  const check = createMessageValidator('stageplane.v1.GetServerInfoResponse');
  const info = GetServerInfoResponse.fromPartial({ startedAt: new Date('2024-01-01') });
  expect(check(info)).toEqual([]);
  expect(check({ ...info, startedAt: new Date(Number.NaN) })).toEqual([
    { field: 'started_at', description: 'this is no time; use RFC 3339' },
  ]);
});

test('a type that does not exist is an error at the start', () => {
  expect(() => createMessageValidator('stageplane.v1.Nonsense')).toThrow('stageplane.v1.Nonsense is no message');
});

test('every rule names a field or oneof that exists', () => {
  for (const path of Object.keys(fieldRules)) {
    const dot = path.lastIndexOf('.');
    const message = descriptorSet().registry.getMessage(path.slice(0, dot));
    const names = [...(message?.fields ?? []), ...(message?.oneofs ?? [])].map(({ name }) => name);
    expect(names, path).toContain(path.slice(dot + 1));
  }
});
