import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ModelInspection } from '../../gen/stageplane/v1/model.js';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunOutcome, RunPhase } from '../../gen/stageplane/v1/run.js';
import { unaryCall } from '../../src/grpc/client.js';
import { packageRoot } from '../../src/package-root.js';
import { findLlamaPackage } from '../../src/worker/engine/llama/llama-package.js';
import { Cluster } from '../e2e/cluster.js';
import { getRun, watchUntil } from '../support/running-orchestrator.js';
import { findModel } from './find-model.js';

const program = join(packageRoot(), 'dist', 'src', 'cli', 'main.js');

describe('SmolLM2-135M-Instruct', () => {
  const model = findModel();

  it('has 30 layers, and its groups add up to its tensor bytes', () => {
    const answer = execFileSync(process.execPath, [program, 'inspect', model, '--tensors', '--json'], {
      encoding: 'utf8',
    });
    const { layers, tensors, architecture } = ModelInspection.fromJSON(JSON.parse(answer));
    expect(architecture).toBe('llama');
    expect(layers?.layers).toHaveLength(30);
    const groups = layers!.layers.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0n);
    const beside = layers!.embeddingBytes + layers!.headBytes + layers!.globalBytes + layers!.nextTokenPredictionBytes;
    const all = tensors.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0n);
    expect(groups + beside).toBe(all);
    expect(layers!.totalBytes).toBe(all);
  });

  const loaders = ['fixture', ...(findLlamaPackage().kind === 'found' ? ['llama.cpp'] : [])];

  it.each(loaders)(
    'is loaded by %s on three agents and stopped, each having read its own bytes and no more',
    async (engine) => {
      const cluster = await Cluster.start(['alpha', 'beta', 'gamma'], { model, ownWorkers: true });
      const runId = await cluster.create('smollm2', 3, { engine });
      await watchUntil(cluster.client, runId, RunPhase.RUN_PHASE_RUNNING);
      const { stages, settings } = await getRun(cluster.client, runId);
      expect(stages.map(({ layerStart, layerEndExclusive }) => [layerStart, layerEndExclusive])).toEqual([
        [0, 10],
        [10, 20],
        [20, 30],
      ]);
      expect(stages.map(({ footprint }) => footprint?.bytesRead)).toEqual(
        settings.map(({ expectedBytes }) => expectedBytes),
      );
      expect(new Set(stages.map(({ footprint }) => footprint?.bytesDigest)).size).toBe(3);

      await unaryCall(cluster.client, Service.stopRun, { runId });
      await watchUntil(cluster.client, runId, RunPhase.RUN_PHASE_DONE);
      expect((await getRun(cluster.client, runId)).outcome).toBe(RunOutcome.RUN_OUTCOME_STOPPED);
      expect(await cluster.end()).toEqual([]);
    },
  );
});
