import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import type { PlanRequest } from '../../gen/stageplane/v1/planner.js';
import { StageSettings } from '../../gen/stageplane/v1/provision.js';
import { PlanRejectionKind as Kind } from '../../gen/stageplane/v1/rejection.js';
import type { TensorTypeName } from '../../src/core/tensors/tensor-type.js';
import { openForSlices } from '../../src/gguf/slice/write-slice.js';
import { writeGguf } from '../../src/gguf/write-gguf.js';
import { unaryCall } from '../../src/grpc/client.js';
import { judgeForLlama } from '../../src/orchestrator/engine-verdict.js';
import {
  type SmallArchitecture,
  smallArchitectures,
  writeArchitectureModel,
} from '../gguf/slice/architecture-model.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const folder = temporaryFolder(afterAll);
type Name = keyof typeof smallArchitectures;

async function written(name: Name, changes: Partial<SmallArchitecture> = {}): Promise<string> {
  const path = join(folder, `${name}-${JSON.stringify(changes).length}.gguf`);
  await writeArchitectureModel(path, name, { ...smallArchitectures[name], ...changes });
  return path;
}

async function verdict(path: string) {
  const opened = await openForSlices(path);
  if (opened.kind === 'refused') throw opened.error;
  return judgeForLlama(opened.model);
}

describe('engine llama.cpp', () => {
  it('says where a model may be cut', async () => {
    expect(await verdict(await written('llama'))).toMatchObject({ cuts: { starts: [1, 2, 3, 4, 5] } });
    expect(await verdict(await written('gemma3'))).toMatchObject({ cuts: { starts: [6, 12, 18] } });
  });

  it('runs what was shown to compute the same in stages, and names that list for anything else', async () => {
    expect(await verdict(await writeStrangeModel('strange'))).toMatchObject({
      kind: 'obstacle',
      message: expect.stringMatching(/architecture strange.*choose a model of llama, qwen2, /),
    });
    // Tried, and seen to say something else.
    expect(await verdict(await writeStrangeModel('gemma2'))).toMatchObject({ kind: 'obstacle' });
  });

  it('has an obstacle in what its first stage could not look up, and in keys that it cannot use', async () => {
    expect(await verdict(await writeStrangeModel('llama', 'I8'))).toMatchObject({
      message: expect.stringMatching(/^token_embd.weight of .* is of type I8, of which llama.cpp reads no single rows/),
    });
    const keys = { 'attention.sliding_window_pattern': { type: 'string', value: 'six' } } as const;
    expect(await verdict(await written('gemma3', { keys }))).toMatchObject({
      message: expect.stringContaining('"gemma3.attention.sliding_window_pattern" must be a number'),
    });
  });
});

describe('a request for engine llama.cpp', () => {
  const settings = StageSettings.fromPartial({ engine: 'llama.cpp' });
  const engines = [{ name: 'llama.cpp', build: '1', deviceIds: ['cpu'], features: [] }];

  async function plan(path: string, stageCount: number) {
    const { client, address } = await runOrchestrator();
    await ScriptedAgent.join(address, 'alpha', { engines });
    await ScriptedAgent.join(address, 'beta', { engines });
    const model = { source: { $case: 'localPath', value: path } } as const;
    const even = await unaryCall(client, Service.planRun, { plan: { model, mode: 0, stageCount, settings } });
    const stages = [2n, 3n].map((nodeId, stageIndex) => ({ stageIndex, nodeId }));
    const placement: PlanRequest['placement'] = { $case: 'fixedLinear', value: { stages, activationEdges: [] } };
    const request = { model, mode: 0, stageCount: 2, settings, placement };
    const fixed = await unaryCall(client, Service.planRun, { plan: request });
    const created = await unaryCall(client, Service.createRun, { requestId: 'r', plan: request });
    return { even, fixed, created };
  }

  it('is refused at planning, not at loading', async () => {
    const { even, fixed, created } = await plan(await writeStrangeModel('strange'), 1);
    for (const { outcome } of [even, fixed, created]) {
      expect(outcome).toMatchObject({
        $case: 'rejection',
        value: {
          kind: Kind.PLAN_REJECTION_KIND_UNSUPPORTED_MODEL,
          message: expect.stringContaining('architecture strange'),
        },
      });
    }
  });

  it('is planned where the model can be cut, or refused there, dry or not', async () => {
    const { even, fixed, created } = await plan(await written('gemma3'), 2);
    // 20 layers; the even split would be at 10.
    expect(even.report?.selected?.placement?.stages.map(({ layerStart }) => layerStart)).toEqual([0, 12]);
    for (const { outcome } of [fixed, created]) {
      expect(outcome).toMatchObject({
        $case: 'rejection',
        value: {
          kind: Kind.PLAN_REJECTION_KIND_MODEL_STAGE_LAYOUT_MISMATCH,
          message: expect.stringMatching(/at layer 10, .* at 6 or 12$/),
        },
      });
    }
  });
});

/** One layer of an architecture. */
async function writeStrangeModel(architecture: string, embedding: TensorTypeName = 'F32'): Promise<string> {
  const path = join(folder, `${architecture}-${embedding}.gguf`);
  const tensor = (name: string, type: TensorTypeName = 'F32') => {
    return { name, type, dims: [4], data: () => [new Uint8Array(type === 'F32' ? 16 : 4)] };
  };
  await writeGguf(path, {
    metadata: [
      ['general.architecture', { type: 'string', value: architecture }],
      [`${architecture}.block_count`, { type: 'uint32', value: 1 }],
      [`${architecture}.embedding_length`, { type: 'uint32', value: 4 }],
      [`${architecture}.context_length`, { type: 'uint32', value: 16 }],
    ],
    tensors: [tensor('token_embd.weight', embedding), tensor('blk.0.attn_norm.weight')],
  });
  return path;
}
