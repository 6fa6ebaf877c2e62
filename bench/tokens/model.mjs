// The model of the benchmark, and the plan of a run of it.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SamplingPolicy } from '../../dist/gen/stageplane/v1/plan.js';
import { StageSettings } from '../../dist/gen/stageplane/v1/provision.js';
import { defaultActivationRing, defaultTokenRing } from '../../dist/src/core/planner/default-rings.js';
import { projectStages } from '../../dist/src/core/planner/derive-stage-provision.js';
import { planRun } from '../../dist/src/core/planner/plan-run.js';
import { resolveSettings, settingsOfStages } from '../../dist/src/core/planner/stage-settings.js';
import { inspectModel } from '../../dist/src/gguf/inspect-model.js';
import { writeTinyModel } from '../../dist/src/gguf/tiny-model.js';
import { packageRoot } from '../../dist/src/package-root.js';

/** Room for a prompt of 1024 tokens and what follows it. */
const CONTEXT = 2048;
/** Decoded at the beginning of a burst, and not measured: the caches are full of what others have done. */
export const WARMING_TOKENS = 3;
const ORCHESTRATOR_NODE = 1n;
const GREEDY = SamplingPolicy.create();

/** SmolLM2, as `.ci/fetch-model` brings it. */
export async function benchModel() {
  const folder = join(packageRoot(), '.cache', 'models');
  let names = [];
  try {
    names = readdirSync(folder);
  } catch {
    // Not fetched yet.
  }
  const name = names.find((file) => /smollm2.*\.gguf$/i.test(file));
  if (name === undefined) throw new Error(`no SmolLM2 in ${folder}: run .ci/fetch-model`);
  const path = join(folder, name);
  return { path, name, inspection: await inspectionOf(path) };
}

export async function inspectionOf(path) {
  const inspected = await inspectModel(path);
  if (inspected.kind === 'refused') throw inspected.error;
  return inspected.inspection;
}

/** A model of 9 layers and 26 MB in F32, whose token takes 3 ms: the network is what takes time. */
export async function smallModel(folder) {
  const name = 'small.gguf';
  const shape = { layers: 9, hidden: 256, feedForward: 688, heads: 8, headsKv: 4 };
  const [path] = await writeTinyModel(join(folder, name), shape);
  return { path, name, inspection: await inspectionOf(path) };
}

/** @typedef {Partial<StageSettings>} AskedSettings */

/**
 * What an orchestrator would give its agents and its token endpoint; `asked` are settings of the run.
 *
 * @param {{ inspection: any }} model
 * @param {number} stageCount
 * @param {AskedSettings} [asked]
 */
export function planOf({ inspection }, stageCount, asked = {}) {
  const facts = inspection.facts;
  const wanted = StageSettings.fromPartial({ engine: 'llama.cpp', contextLength: CONTEXT, threads: 1, ...asked });
  const settings = resolveSettings(wanted, facts, inspection);
  const nodes = Array.from({ length: stageCount }, (_, stage) => ORCHESTRATOR_NODE + 1n + BigInt(stage));
  const stages = nodes.map((nodeId, stageIndex) => ({ stageIndex, nodeId }));
  const outcome = planRun({
    runId: 1n,
    orchestratorNodeId: ORCHESTRATOR_NODE,
    model: { ...facts, maxSeqLen: BigInt(settings.contextLength) },
    runtime: {
      maxTokens: 0,
      prompt: { source: { $case: 'inline', value: '' } },
      sampling: GREEDY,
      tokenOutputPolicy: 1,
      stop: [],
    },
    candidatePool: nodes,
    stageCount,
    placement: { placement: { $case: 'fixedLinear', value: { stages, activationEdges: [] } } },
    activationRing: defaultActivationRing(facts, settings),
    tokenRing: defaultTokenRing(settings),
  });
  if (outcome.kind === 'rejected') throw new Error(outcome.rejection.message);
  const { plan } = outcome;
  const projected = projectStages(plan);
  if (projected.kind === 'rejected') throw new Error(projected.rejection.message);
  const { provisions } = projected;
  const threads = nodes.map(() => settings.threads);
  // Nobody shares these nodes.
  const reserved = nodes.map(() => 0n);
  return {
    edges: plan.edges,
    stages: settingsOfStages(plan, settings, threads, reserved, inspection.layers).map((own, stage) => ({
      provision: provisions[stage],
      settings: own,
      producerNodeId: ORCHESTRATOR_NODE + BigInt(stage),
    })),
  };
}
