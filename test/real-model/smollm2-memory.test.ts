import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { CandidateStatus, EstimateBasis, PlanRequest } from '../../gen/stageplane/v1/planner.js';
import { StageSettings } from '../../gen/stageplane/v1/provision.js';
import { RunPhase } from '../../gen/stageplane/v1/run.js';
import { formatBytes } from '../../src/core/format-bytes.js';
import { SliceCache } from '../../src/gguf/slice/slice-cache.js';
import { unaryCall } from '../../src/grpc/client.js';
import { chooseSlice } from '../../src/worker/engine/llama/choose-slice.js';
import { stageFile } from '../../src/worker/engine/llama/stage-file.js';
import { LoadRequest } from '../../src/worker/engine/load.js';
import { Cluster } from '../e2e/cluster.js';
import { watchUntil } from '../support/running-orchestrator.js';
import { libraryMemory } from '../worker/engine/llama/library-memory.js';
import { findModel } from './find-model.js';

const LAYERS = 30;
/** So long that the cache of a layer is a whole number of the hundredths of a MiB that the library says. */
const CONTEXT = 4096;
const folder = mkdtempSync(join(tmpdir(), 'sp-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What the library says of the stage `[start, end)` of the file that its worker would load. */
async function measured(path: string, start: number, end: number, settings: StageSettings) {
  const range = { shardStart: start, shardEnd: end - 1, totalLayers: LAYERS };
  const chosen = await chooseSlice(new LoadRequest({ artifactPath: path, ...range, recipe: {} }), {});
  if (chosen.kind === 'failed') throw new Error(chosen.status.message);
  const made = await stageFile(chosen.spec, new SliceCache({ folder, maxBytes: 2 ** 30 }), {});
  if (made.kind === 'failed') throw new Error(made.status.message);
  const memory = await libraryMemory(made.file.path, settings, end === LAYERS ? 'logits' : 'rows');
  await made.file.release();
  return memory;
}

it('three nodes too small for the model get stages whose memory is what llama.cpp takes', async () => {
  const path = findModel();
  const cluster = await Cluster.start(['alpha', 'beta', 'gamma'], {
    model: path,
    ownWorkers: true,
    agentFlags: ['--memory', '800MiB'],
  });
  const plan = PlanRequest.fromPartial({
    model: { source: { $case: 'localPath', value: path } },
    settings: StageSettings.fromPartial({ engine: 'llama.cpp', contextLength: CONTEXT, microBatch: 512, threads: 1 }),
    placement: { $case: 'automatic', value: { constraints: { minStages: 3 } } },
  });
  const one = await unaryCall(cluster.client, Service.planRun, { plan: { ...plan, stageCount: 1 } });
  expect(one.outcome).toMatchObject({ $case: 'rejection' });
  const { outcome, report } = await unaryCall(cluster.client, Service.createRun, { requestId: 'a', plan });
  if (outcome?.$case !== 'run') throw new Error(outcome?.value.message);
  const { runId } = outcome.value;
  await watchUntil(cluster.client, runId, RunPhase.RUN_PHASE_RUNNING);
  const run = (await unaryCall(cluster.client, Service.getRun, { runId })).run!;

  const { memory } = report!.candidates.find(({ status }) => status === CandidateStatus.CANDIDATE_STATUS_SELECTED)!;
  expect(memory).toHaveLength(3);
  for (const [index, stage] of run.plan!.stages.entries()) {
    const { weights, kvCache, compute, embedding, head, overhead, total } = memory[index]!;
    const settings = run.settings[index]!;
    const library = await measured(path, stage.layerStart, stage.layerEndExclusive, settings);
    const held = Number(run.stages[index]!.footprint!.deviceBytes);
    const both = (planned: number, real: number) => `${formatBytes(planned)} planned, ${formatBytes(real)} taken`;
    console.info(
      `stage ${index}, layers [${stage.layerStart}, ${stage.layerEndExclusive}): weights ${both(weights!.value + embedding!.value + head!.value, library.weights)}; ` +
        `KV cache ${both(kvCache!.value, library.cache)}; compute ${both(compute!.value, library.compute)}; ` +
        `process overhead ${formatBytes(overhead!.value)} planned; in all ${both(total!.value, held)} by its process`,
    );
    expect(weights!.value + embedding!.value + head!.value).toBe(library.weights);
    expect(kvCache!.value).toBe(library.cache);
    expect(compute!.value / library.compute).toBeGreaterThan(0.8);
    expect(compute!.value / library.compute).toBeLessThan(1.25);
    expect(settings.reservedBytes).toBe(BigInt(total!.value));
    expect(held).toBeGreaterThan(library.weights + library.cache + library.compute);
    expect(held).toBeLessThan(total!.value);
  }

  await unaryCall(cluster.client, Service.stopRun, { runId });
  await watchUntil(cluster.client, runId, RunPhase.RUN_PHASE_DONE);
  const { stages } = run.plan!;
  const again = { ...plan, placement: { $case: 'layerRanges', value: { stages } } as const };
  const planned = await unaryCall(cluster.client, Service.planRun, { plan: again });
  expect(planned.report!.candidates[0]!.memory.map(({ total }) => total)).toMatchObject(
    run.stages.map(({ footprint }) => ({
      value: Number(footprint!.deviceBytes),
      basis: EstimateBasis.ESTIMATE_BASIS_LEDGER,
    })),
  );
  expect(await cluster.end()).toEqual([]);
});
