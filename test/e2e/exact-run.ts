import { randomUUID } from 'node:crypto';
import { RuntimeConfig, type SamplingPolicy } from '../../gen/stageplane/v1/plan.js';
import { RunMode } from '../../gen/stageplane/v1/planner.js';
import { Fidelity, type StageSettings } from '../../gen/stageplane/v1/provision.js';
import { RunPhase } from '../../gen/stageplane/v1/run.js';
import { listNodes } from '../../src/launcher/list-all.js';
import { getRun, watchUntil } from '../support/running-orchestrator.js';
import { type Answer, answerOf, attach } from './ask.js';
import type { Cluster } from './cluster.js';

export interface ExactRun {
  readonly model: string;
  readonly layers: number;
  /** Layers at which a new stage starts; each stage is on a node of its own. */
  readonly cuts: readonly number[];
  /** Nodes left alone before the first stage's; default 0. */
  readonly skippedNodes?: number;
  readonly prompt: string;
  readonly maxTokens: number;
  readonly sampling?: Partial<SamplingPolicy>;
  readonly settings?: Partial<StageSettings>;
}

export interface ExactAnswer extends Answer {
  readonly runId: bigint;
  readonly fidelity: string;
}

/** What a ONE_SHOT run of llama.cpp in EXACT mode says, once its stages are gone from their nodes. */
export async function exactAnswer(cluster: Cluster, run: ExactRun): Promise<ExactAnswer> {
  const { client } = cluster;
  const { model, layers, cuts, skippedNodes = 0, prompt, maxTokens, sampling, settings } = run;
  const nodes = await listNodes(client);
  const bounds = [0, ...cuts, layers];
  const stages = bounds.slice(1).map((layerEndExclusive, stageIndex) => {
    const { nodeId } = nodes[skippedNodes + stageIndex]!;
    return { stageIndex, nodeId, layerStart: bounds[stageIndex]!, layerEndExclusive };
  });
  const source = { $case: 'inline', value: prompt } as const;
  const runId = await cluster.create(
    randomUUID(),
    stages.length,
    { engine: 'llama.cpp', fidelity: Fidelity.FIDELITY_EXACT, threads: 1, ...settings },
    {
      model: { source: { $case: 'localPath', value: model } },
      mode: RunMode.RUN_MODE_ONE_SHOT,
      runtime: RuntimeConfig.fromPartial({ maxTokens, sampling, prompt: { source } }),
      placement: { $case: 'layerRanges', value: { stages } },
    },
  );
  const [answer] = await Promise.all([
    answerOf(attach(client, runId)),
    watchUntil(client, runId, RunPhase.RUN_PHASE_DONE),
  ]);
  const { fidelity } = await getRun(client, runId);
  return { ...answer, runId, fidelity };
}
