import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import type { GgufModel } from '../gguf/open-model.js';
import { stageTensors } from '../gguf/stage-tensors.js';
import type { CheckedPrepare } from './check-prepare.js';
import { modelShape } from './engine/model-shape.js';
import { type WorkerFault, workerFault } from './stage-fault.js';

/** Compares the node's own file with what was planned; each sentence names both. Undefined when they agree. */
export async function modelFault(prepare: CheckedPrepare, model: GgufModel): Promise<WorkerFault | undefined> {
  const { provision, settings } = prepare;
  const shape = await modelShape(model);
  if (shape.kind === 'refused') {
    return workerFault(StageFaultReason.STAGE_FAULT_REASON_MODEL_INVALID, shape.error.message);
  }
  const differs = (what: string, own: number | bigint | string, planned: number | bigint | string) =>
    workerFault(
      StageFaultReason.STAGE_FAULT_REASON_MODEL_MISMATCH,
      `${model.path} has ${what} ${own}, but the plan was made for ${planned}: put the planned file on this node`,
    );
  if (settings.modelDigest !== '' && settings.modelDigest.toLowerCase() !== model.digest) {
    return differs('digest', model.digest, settings.modelDigest);
  }
  if (settings.totalLayers !== model.numLayers) return differs('layers', model.numLayers, settings.totalLayers);
  if (provision.model !== undefined && provision.model.hiddenDim !== shape.hiddenDim) {
    return differs('rows of width', shape.hiddenDim, provision.model.hiddenDim);
  }
  const stageBytes = BigInt(ownBytes(prepare, model));
  if (settings.expectedBytes !== 0n && settings.expectedBytes !== stageBytes) {
    return differs("this stage's bytes", stageBytes, settings.expectedBytes);
  }
  return undefined;
}

/** Tensor bytes that the stage reads. */
function ownBytes({ provision, settings }: CheckedPrepare, model: GgufModel): number {
  const { layerStart, layerEndExclusive } = provision;
  const ends = { first: layerStart === 0, last: layerEndExclusive === settings.totalLayers };
  return stageTensors(model, layerStart, layerEndExclusive, ends).reduce((sum, tensor) => sum + tensor.bytes, 0);
}
