import type { StageDelivery } from '../../gen/stageplane/v1/node_agent_service.js';
import { ProvisionDelivery } from '../../gen/stageplane/v1/node_agent_service.js';
import { projectStages } from '../../src/core/planner/derive-stage-provision.js';
import type { EdgeContract } from '../../src/worker/edge/edge-contract.js';
import { fixedLinear, planOf, sampleInput } from '../core/planner/sample-input.js';
import { prepareCommand } from '../worker/prepare-command.js';

const ORCHESTRATOR = 1n;
const LAYERS = 8;
const HIDDEN = 64;
const RUN = { runId: 7n, generation: 1 };

/** Run 7 over the stages of the tiny model `tiny.gguf`: stage `i` is on node `nodes[i]`. */
export class PlannedStages {
  readonly #stages: readonly StageDelivery[];

  constructor(readonly nodes: readonly bigint[]) {
    const sample = sampleInput();
    const ggufSource = { source: { $case: 'localPath', value: 'tiny.gguf' } } as const;
    const plan = planOf({
      ...sample,
      model: { ...sample.model!, numLayers: LAYERS, hiddenDim: BigInt(HIDDEN), ggufSource },
      stageCount: nodes.length,
      candidatePool: [...new Set(nodes)],
      placement: fixedLinear(...nodes.map((node, index): [number, bigint] => [index, node])),
    });
    const projected = projectStages(plan);
    if (projected.kind === 'rejected') throw new Error('the plan of the test is none');
    const { settings } = prepareCommand({ modelPath: '', totalLayers: LAYERS, hiddenDim: HIDDEN });
    this.#stages = projected.provisions.map((provision, index) => ({
      provision,
      settings,
      producerNodeId: index === 0 ? ORCHESTRATOR : nodes[index - 1]!,
    }));
  }

  /** The stages of one node. */
  deliveryTo(nodeId: bigint): ProvisionDelivery {
    const stages = this.#stages.filter(({ provision }) => provision?.nodeId === nodeId);
    return ProvisionDelivery.fromPartial({ deliveryId: 1n, generation: 1, epoch: 1n, stages });
  }

  get tokenIn(): EdgeContract {
    const { edgeId, objectSpec, ringSpec } = this.#stages[0]!.provision!.inbound!;
    return { ...RUN, edgeId, producerNodeId: ORCHESTRATOR, ...bytesOf(objectSpec!, ringSpec!) };
  }

  get tokenOut(): EdgeContract {
    const { edgeId, objectSpec, ringSpec } = this.#stages.at(-1)!.provision!.outbound!;
    return { ...RUN, edgeId, producerNodeId: this.nodes.at(-1)!, ...bytesOf(objectSpec!, ringSpec!) };
  }
}

function bytesOf(
  { maxExtent, alignment }: { maxExtent: bigint; alignment: number },
  { dataCapacity }: { dataCapacity: bigint },
) {
  return { maxExtent: Number(maxExtent), alignment, capacity: Number(dataCapacity) };
}
