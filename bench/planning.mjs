// Planning beside a loop of plain arithmetic, which says how fast this machine is just now.
//
//   npm run bench:plan -- --millis 100
//
// Times are of the processor, not of the clock, and the best of several rounds: what else runs here counts little.
import { parseArgs } from 'node:util';
import { choosePlacement } from '../dist/src/core/placement/choose-placement.js';
import { deriveStageProvision, projectStages } from '../dist/src/core/planner/derive-stage-provision.js';
import { planRun } from '../dist/src/core/planner/plan-run.js';

const { values } = parseArgs({ options: { millis: { type: 'string', default: '1000' } } });
/** Milliseconds for each figure. */
const roundMillis = Number(values.millis);
const LAYERS = 128;
const GB = 1e9;

report('calibration: 10 M additions', bestMillis(calibrate), 'about 10 on a quiet core');
console.log(`\nautomatic placement of ${LAYERS} layers`);
for (const [nodes, layerBytes] of [
  [8, 0.4 * GB],
  [64, 2 * GB],
  [1000, 2 * GB],
  [1000, 40 * GB],
]) {
  for (const objective of /** @type {const} */ (['fastest', 'balanced', 'fewest-nodes'])) {
    const problem = placementProblem(nodes, layerBytes);
    const millis = bestMillis(() => choosePlacement(problem, objective));
    const outcome = choosePlacement(problem, objective);
    const result =
      outcome.kind === 'placed' ? `${outcome.selected.placement.stages.length} stages` : outcome.fault.kind;
    report(`${nodes} nodes, ${objective}, ${result}`, millis, nodes === 1000 ? 'goal 100' : '');
  }
}
console.log('\nfixed placement: planRun and every provision');
for (const [stages, goal] of [
  [4, 200_000],
  [32, 30_000],
  [256, 5000],
  [1024, 1500],
  [4096, 300],
]) {
  const input = plannerInput(stages);
  const outcome = planRun(input);
  if (outcome.kind === 'rejected') throw new Error(outcome.rejection.message);
  const { plan } = outcome;
  const parts = [
    bestMillis(() => planRun(input)),
    bestMillis(() => projectStages(plan)),
    bestMillis(() => plan.stages.map(({ stageIndex }) => deriveStageProvision(plan, stageIndex))),
  ];
  const rate = 1000 / (parts[0] + parts[1]);
  const shares = parts.map((millis) => `${(millis * 1000).toFixed(1)} us`).join(', ');
  console.log(
    `${`${stages} stages`.padEnd(12)} ${rate.toFixed(0).padStart(8)} plans/s, goal ${goal} (planRun, projectStages, one by one: ${shares})`,
  );
}

function report(name, millis, goal) {
  console.log(`${name.padEnd(52)} ${millis.toFixed(2).padStart(9)} ms  ${goal}`);
}

function bestMillis(once) {
  let best = Number.POSITIVE_INFINITY;
  const end = performance.now() + roundMillis;
  let batch = 1;
  do {
    const begin = process.cpuUsage();
    for (let call = 0; call < batch; call++) once();
    const { user, system } = process.cpuUsage(begin);
    const millis = (user + system) / 1000;
    best = Math.min(best, millis / batch);
    // Long enough to be measured, short enough that a batch now and then is left alone.
    if (millis < 4) batch *= 2;
  } while (performance.now() < end);
  return best;
}

function calibrate() {
  let sum = 0;
  for (let i = 0; i < 10_000_000; i++) sum = (sum + (i ^ (sum & 7))) | 0;
  return sum;
}

/**
 * Nodes of many sizes and speeds, from a sequence that is always the same.
 *
 * @returns {any} a problem whose ids have no brands
 */
function placementProblem(count, layerBytes) {
  let state = 1;
  const next = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const nodes = Array.from({ length: count }, (_, at) => {
    const capacity = Math.round((8 + 72 * next()) * GB);
    return {
      nodeId: BigInt(at + 2),
      name: `node-${at}`,
      usable: Math.round(capacity * 0.8),
      capacity,
      overhead: 300_000_000,
      secondsPerByte: 1 / ((50 + 950 * next()) * GB),
      hopSeconds: 0.0002 + 0.002 * next(),
    };
  });
  const [embedding, head] = [GB, GB];
  return {
    numLayers: LAYERS,
    starts: undefined,
    bytes: (start, end) => (end - start) * layerBytes + (start === 0 ? embedding : 0) + (end === LAYERS ? head : 0),
    bytesRead: (start, end) => (end - start) * layerBytes + (end === LAYERS ? head : 0),
    embeddingBytes: embedding,
    headBytes: head,
    nodes,
    minStages: 1,
    maxStages: count,
    pins: new Map(),
  };
}

/** @returns {any} an input whose ids have no brands */
function plannerInput(stageCount) {
  const ring = (dataCapacity) => ({ dataCapacity, alignment: 64, direction: 2, hostPinning: 1, wakeCoalescing: 1 });
  const stages = Array.from({ length: stageCount }, (_, stageIndex) => {
    return { stageIndex, nodeId: BigInt(stageIndex + 2) };
  });
  return {
    runId: 7n,
    orchestratorNodeId: 1n,
    model: {
      modelId: 'bench',
      ggufSource: { source: { $case: 'huggingFace', value: { repo: 'owner/bench', file: 'bench.gguf' } } },
      numLayers: stageCount,
      hiddenDim: 8192n,
      dtypeFamily: 2,
      dtypeWidthBytes: 4n,
      maxSeqLen: 8192n,
      eosTokenId: 2,
      tokenizer: { source: { $case: 'embeddedGguf', value: {} } },
    },
    runtime: {
      maxTokens: 16,
      prompt: { source: { $case: 'inline', value: 'hello' } },
      sampling: { temperatureMillis: 0, topK: 0 },
      tokenOutputPolicy: 1,
    },
    candidatePool: stages.map(({ nodeId }) => nodeId),
    stageCount,
    placement: { placement: { $case: 'fixedLinear', value: { stages, activationEdges: [] } } },
    activationRing: ring(1_048_576n),
    tokenRing: ring(64n),
  };
}
