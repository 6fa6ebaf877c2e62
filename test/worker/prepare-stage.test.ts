import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DtypeFamily } from '../../gen/stageplane/v1/model.js';
import { EdgeKind } from '../../gen/stageplane/v1/plan.js';
import { Fidelity, KvCacheType, type ProvisionStage, type StageSettings } from '../../gen/stageplane/v1/provision.js';
import { StageFaultReason as Reason } from '../../gen/stageplane/v1/run.js';
import type { PrepareStage } from '../../gen/stageplane/v1/worker.js';
import { openModel } from '../../src/gguf/open-model.js';
import { stageTensors } from '../../src/gguf/stage-tensors.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import type { CheckedEdges } from '../../src/worker/check-edges.js';
import { prepareStage } from '../../src/worker/prepare-stage.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { stageCommand } from './edge/stage-chain.js';
import { prepareCommand } from './prepare-command.js';

const folder = temporaryFolder(afterAll);
let stage: { modelPath: string; totalLayers: number; hiddenDim: number; layers: [number, number] };
let digest: string;
let ownBytes: bigint;
beforeAll(async () => {
  const [modelPath] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: 4, hidden: 32 });
  stage = { modelPath, totalLayers: 4, hiddenDim: 32, layers: [1, 3] };
  const opened = await openModel(modelPath);
  if (opened.kind === 'refused') throw opened.error;
  digest = opened.model.digest;
  const tensors = stageTensors(opened.model, 1, 3, { first: false, last: false });
  ownBytes = BigInt(tensors.reduce((sum, tensor) => sum + tensor.bytes, 0));
});

async function faultOf(command: PrepareStage) {
  const outcome = await prepareStage(command, {});
  if (outcome.kind === 'ready') throw new Error('the stage became ready');
  return outcome.fault;
}

test('a stage that agrees with the plan in everything becomes ready', async () => {
  const settings = { modelDigest: digest.toUpperCase(), expectedBytes: ownBytes };
  expect(await prepareStage(prepareCommand(stage, settings), {})).toMatchObject({
    kind: 'ready',
    footprint: { bytesRead: ownBytes },
  });
});

describe('the file', () => {
  test.each<[string, () => Partial<StageSettings>, () => string[]]>([
    ['has another digest', () => ({ modelDigest: 'a'.repeat(64) }), () => [digest, 'a'.repeat(64)]],
    ['has another number of bytes', () => ({ expectedBytes: 5n }), () => [String(ownBytes), '5']],
    ['has other layers', () => ({ totalLayers: 9 }), () => ['layers 4', '9']],
  ])('%s than planned: MODEL_MISMATCH names both', async (_, settings, named) => {
    const fault = await faultOf(prepareCommand(stage, settings()));
    expect(fault.reason).toBe(Reason.STAGE_FAULT_REASON_MODEL_MISMATCH);
    for (const part of named()) expect(fault.message).toContain(part);
  });

  test('has rows of another width: MODEL_MISMATCH names both', async () => {
    const fault = await faultOf(prepareCommand({ ...stage, hiddenDim: 31 }));
    expect(fault).toMatchObject({ reason: Reason.STAGE_FAULT_REASON_MODEL_MISMATCH });
    expect(fault.message).toMatch(/32.*31/);
  });

  test('is no GGUF: MODEL_INVALID with the sentence of the reader', async () => {
    const modelPath = join(folder, 'not.gguf');
    await writeFile(modelPath, 'something else entirely');
    const opened = await openModel(modelPath);
    expect(await faultOf(prepareCommand({ ...stage, modelPath }))).toEqual({
      reason: Reason.STAGE_FAULT_REASON_MODEL_INVALID,
      message: opened.kind === 'refused' && opened.error.message,
    });
  });

  test('is not there: MODEL_NOT_FOUND names it', async () => {
    const fault = await faultOf(prepareCommand({ ...stage, modelPath: join(folder, 'missing.gguf') }));
    expect(fault.reason).toBe(Reason.STAGE_FAULT_REASON_MODEL_NOT_FOUND);
    expect(fault.message).toContain('missing.gguf');
  });
});

describe('the settings', () => {
  test.each<[Partial<StageSettings>, Reason, string]>([
    [{ engine: 'turbo' }, Reason.STAGE_FAULT_REASON_ENGINE_UNAVAILABLE, '"turbo"'],
    [{ device: 'cuda:0' }, Reason.STAGE_FAULT_REASON_ENGINE_UNAVAILABLE, '"cuda:0"'],
    [{ contextLength: 0 }, Reason.STAGE_FAULT_REASON_SETTINGS_REFUSED, 'context_length'],
    [{ sessions: 0 }, Reason.STAGE_FAULT_REASON_SETTINGS_REFUSED, 'sessions'],
    [{ sessions: 4097 }, Reason.STAGE_FAULT_REASON_SETTINGS_REFUSED, 'sessions'],
    [{ threads: 1025 }, Reason.STAGE_FAULT_REASON_SETTINGS_REFUSED, 'threads'],
    [{ threads: 0 }, Reason.STAGE_FAULT_REASON_SETTINGS_REFUSED, 'threads'],
    [{ microBatch: 0 }, Reason.STAGE_FAULT_REASON_SETTINGS_REFUSED, 'micro_batch'],
    [{ microBatch: 65_537 }, Reason.STAGE_FAULT_REASON_SETTINGS_REFUSED, 'micro_batch'],
    [{ kvCacheType: KvCacheType.UNRECOGNIZED }, Reason.STAGE_FAULT_REASON_SETTINGS_REFUSED, 'kv_cache_type'],
    [{ kvCacheType: KvCacheType.KV_CACHE_TYPE_Q4_0 }, Reason.STAGE_FAULT_REASON_SETTINGS_REFUSED, 'kv_cache_type Q4_0'],
    [{ fidelity: Fidelity.FIDELITY_UNSPECIFIED }, Reason.STAGE_FAULT_REASON_SETTINGS_REFUSED, 'fidelity'],
  ])('%o are refused', async (settings, reason, named) => {
    const fault = await faultOf(prepareCommand(stage, settings));
    expect(fault.reason).toBe(reason);
    expect(fault.message).toContain(named);
  });

  test('activations in anything but 32-bit floats are refused', async () => {
    const command = prepareCommand(stage);
    command.provision!.model!.dtypeFamily = DtypeFamily.DTYPE_FAMILY_BFLOAT;
    expect(await faultOf(command)).toMatchObject({
      reason: Reason.STAGE_FAULT_REASON_SETTINGS_REFUSED,
      message: expect.stringContaining('DTYPE_FAMILY_BFLOAT'),
    });
  });
});

describe('a command whose parts do not fit together is INVALID_DELIVERY', () => {
  test.each<[string, (command: PrepareStage) => void]>([
    ['no provision', (command) => delete command.provision],
    ['no settings', (command) => delete command.settings],
    ['no model path', (command) => Object.assign(command, { modelPath: '' })],
    ...(
      [
        ['an empty range', { layerStart: 3 }],
        ['a range beyond the model', { layerEndExclusive: 5 }],
        ['a stage beyond the last', { stageIndex: 3 }],
        ['a first stage that starts late', { stageIndex: 0 }],
        ['a last stage that ends early', { stageCount: 2 }],
      ] satisfies [string, Partial<ProvisionStage>][]
    ).map(([name, change]): [string, (command: PrepareStage) => void] => [
      name,
      (command) => Object.assign(command.provision!, change),
    ]),
  ])('%s', async (_, spoil) => {
    const command = prepareCommand(stage);
    spoil(command);
    expect((await faultOf(command)).reason).toBe(Reason.STAGE_FAULT_REASON_INVALID_DELIVERY);
  });
});

describe('sockets and edges that do not fit together are INVALID_DELIVERY', () => {
  const withEdges = () =>
    stageCommand(stage, { folder: '/run/stageplane', index: 1, stageCount: 3, layers: [1, 3] }, { microBatch: 16 });

  test.each<[string, (command: PrepareStage) => void]>([
    ['has one socket', (command) => Object.assign(command, { outboundSocket: '' })],
    ['socket path of 100 bytes', (command) => Object.assign(command, { inboundSocket: '/'.padEnd(100, 'x') })],
    ['no whole inbound edge', (command) => delete command.provision!.inbound],
    ['no whole outbound edge', (command) => delete command.provision!.outbound!.ringSpec],
    ['how wide rows are', (command) => delete command.provision!.model],
    [
      'EDGE_KIND_TOKEN_IN',
      (command) => Object.assign(command.provision!.inbound!, { kind: EdgeKind.EDGE_KIND_TOKEN_IN }),
    ],
    ['alignment 0', (command) => Object.assign(command.provision!.outbound!.objectSpec!, { alignment: 0 })],
  ])('%s', async (named, spoil) => {
    const command = withEdges();
    spoil(command);
    const fault = await faultOf(command);
    expect(fault.reason).toBe(Reason.STAGE_FAULT_REASON_INVALID_DELIVERY);
    expect(fault.message).toContain(named);
  });

  test('those that do are opened before the file is, with objects of a micro-batch at most', async () => {
    let edges: CheckedEdges | undefined;
    const command = { ...withEdges(), modelPath: '/missing.gguf' };
    const outcome = await prepareStage(command, {
      beforeLoad: async (checked) => {
        edges = checked.edges;
        return undefined;
      },
    });
    expect(outcome).toMatchObject({ fault: { reason: Reason.STAGE_FAULT_REASON_MODEL_NOT_FOUND } });
    expect(edges).toMatchObject({
      inbound: { contract: { edgeId: 2n, producerNodeId: 2n, maxExtent: 16 * 32 * 4 } },
      outbound: { contract: { edgeId: 3n, producerNodeId: 3n } },
      shape: { layerStart: 1, isTail: false, hiddenDim: 32 },
    });
  });
});
