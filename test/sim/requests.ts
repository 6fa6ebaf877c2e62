import { PlanRequest } from '../../gen/stageplane/v1/planner.js';
import { RestartMode } from '../../gen/stageplane/v1/run.js';
import type { RunRequest } from '../../src/core/machine/events.js';
import { sampleFacts } from '../core/machine/samples.js';
import { headsOf, MIB, sampleInspection } from '../core/model/samples.js';

const sample = sampleInspection({
  attention: Array.from({ length: 8 }, () => headsOf(32, 8, 64)),
  layerBytes: Array.from({ length: 8 }, () => BigInt(100 * MIB)),
  embeddingBytes: BigInt(100 * MIB),
  headBytes: BigInt(100 * MIB),
  inspection: { digest: 'd'.repeat(64) },
});

/** A model of a little over 1 GiB, so that a machine holds a few stages and no more. */
const inspection = { ...sample, facts: { ...sampleFacts, maxSeqLen: 32_768n } };

export interface WantedRun {
  readonly requestId: string;
  /** One stage on each, in their order; empty leaves the placement to the orchestrator. */
  readonly nodeIds: readonly bigint[];
  /** 0 lets the planner choose. */
  readonly stageCount: number;
  readonly oneShot: boolean;
  /** Attempts after the first; 0 ends the run with its first fault. */
  readonly attempts: number;
}

/** What the shell makes of a launcher's CreateRun. */
export function runRequest(wanted: WantedRun): RunRequest {
  const { requestId, nodeIds, stageCount, oneShot, attempts } = wanted;
  const given = { stages: nodeIds.map((nodeId, stageIndex) => ({ stageIndex, nodeId })), activationEdges: [] };
  const plan = PlanRequest.fromPartial({
    model: sampleFacts.ggufSource,
    runtime: { prompt: { source: { $case: 'inline', value: oneShot ? 'Tell me a story.' : '' } }, sampling: {} },
    settings: { engine: 'fixture', contextLength: 512 },
    placement:
      nodeIds.length > 0
        ? { $case: 'fixedLinear', value: given }
        : { $case: 'automatic', value: { constraints: { minStages: stageCount, maxStages: stageCount || 4 } } },
    stageCount: nodeIds.length,
  });
  const digest = `${nodeIds.join()} ${stageCount} ${oneShot} ${attempts}`;
  const again = { mode: RestartMode.RESTART_MODE_ON_FAULT, maxAttempts: attempts, backoffMillis: 500n };
  return { requestId, digest, plan, inspection, ...(attempts > 0 && { restart: again }) };
}
