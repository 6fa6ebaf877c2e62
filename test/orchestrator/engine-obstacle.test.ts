import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ModelInspection } from '../../gen/stageplane/v1/model.js';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { StageSettings } from '../../gen/stageplane/v1/provision.js';
import { PlanRejectionKind as Kind } from '../../gen/stageplane/v1/rejection.js';
import { openModel } from '../../src/gguf/open-model.js';
import { writeGguf } from '../../src/gguf/write-gguf.js';
import { unaryCall } from '../../src/grpc/client.js';
import { engineObstacle } from '../../src/orchestrator/engine-obstacle.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const of = (architecture: string) => ({ architecture }) as ModelInspection;

describe('an engine', () => {
  it('runs what was shown to compute the same in stages, and names that list for anything else', () => {
    expect(engineObstacle('llama.cpp', of('llama'))).toBeUndefined();
    expect(engineObstacle('llama.cpp', of('mamba'))).toMatch(/architecture mamba.*choose a model of llama, qwen2, /);
    // Tried, and seen to say something else.
    expect(engineObstacle('llama.cpp', of('gemma2'))).toMatch(/architecture gemma2/);
    expect(engineObstacle('fixture', of('mamba'))).toBeUndefined();
  });

  it('is refused at planning, not at loading', async () => {
    const { client, address } = await runOrchestrator();
    await ScriptedAgent.join(address, 'alpha');
    const path = join(temporaryFolder(), 'strange.gguf');
    await writeStrangeModel(path);
    expect((await openModel(path)).kind).toBe('opened');
    const model = { source: { $case: 'localPath', value: path } } as const;
    const settings = StageSettings.fromPartial({ engine: 'llama.cpp' });
    const { outcome } = await unaryCall(client, Service.planRun, { plan: { model, mode: 0, stageCount: 1, settings } });
    expect(outcome).toMatchObject({
      $case: 'rejection',
      value: { kind: Kind.PLAN_REJECTION_KIND_UNSUPPORTED_MODEL, message: /architecture strange/ },
    });
  });
});

/** One layer of an architecture that nobody knows. */
async function writeStrangeModel(path: string): Promise<void> {
  const tensor = (name: string) => ({ name, type: 'F32' as const, dims: [4], data: () => [new Uint8Array(16)] });
  await writeGguf(path, {
    metadata: [
      ['general.architecture', { type: 'string', value: 'strange' }],
      ['strange.block_count', { type: 'uint32', value: 1 }],
      ['strange.embedding_length', { type: 'uint32', value: 4 }],
      ['strange.context_length', { type: 'uint32', value: 16 }],
    ],
    tensors: [tensor('token_embd.weight'), tensor('blk.0.attn_norm.weight')],
  });
}
