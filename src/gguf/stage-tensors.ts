import type { TensorGroup } from '../core/tensors/tensor-group.js';
import type { GgufModel, ModelTensor } from './open-model.js';

/** Where in the pipeline a stage stands; both are true when it is the only one. */
export interface StagePosition {
  readonly first: boolean;
  readonly last: boolean;
}

/**
 * Exactly the tensors that the stage `[layerStart, layerEnd)` needs, each once, in the order of the model: its layers,
 * the globals, the embedding on the first stage, the head on the last one, or the embedding again when the head is tied.
 */
export function stageTensors(
  model: GgufModel,
  layerStart: number,
  layerEnd: number,
  position: StagePosition,
): ModelTensor[] {
  const isNeeded = (group: TensorGroup): boolean => {
    switch (group.kind) {
      case 'layer':
        return group.index >= layerStart && group.index < layerEnd;
      case 'embedding':
        return position.first || (position.last && model.tied);
      case 'head':
        return position.last;
      case 'global':
        return true;
      case 'next-token-prediction':
        return false;
    }
  };
  return model.tensors.filter(({ group }) => isNeeded(group));
}
