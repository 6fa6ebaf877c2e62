import { DtypeFamily } from '../../gen/stageplane/v1/model.js';
import { Fidelity, KvCacheType, ProvisionStage, StageSettings } from '../../gen/stageplane/v1/provision.js';
import type { PrepareStage } from '../../gen/stageplane/v1/worker.js';

interface StageOfModel {
  readonly modelPath: string;
  readonly totalLayers: number;
  readonly hiddenDim: number;
  /** Default: the whole model. */
  readonly layers?: readonly [start: number, end: number];
}

/** A command to prepare one stage, as an agent would send it. */
export function prepareCommand(stage: StageOfModel, settings: Partial<StageSettings> = {}): PrepareStage {
  const [layerStart, layerEndExclusive] = stage.layers ?? [0, stage.totalLayers];
  const stageCount = 1 + Number(layerStart > 0) + Number(layerEndExclusive < stage.totalLayers);
  const { hiddenDim } = stage;
  return {
    provision: ProvisionStage.fromPartial({
      runId: 7n,
      nodeId: 2n,
      stageIndex: Number(layerStart > 0),
      stageCount,
      layerStart,
      layerEndExclusive,
      model: { modelId: 'tiny', hiddenDim, dtypeFamily: DtypeFamily.DTYPE_FAMILY_FLOAT, dtypeWidthBytes: 4 },
    }),
    settings: StageSettings.fromPartial({
      engine: 'fixture',
      device: 'cpu',
      totalLayers: stage.totalLayers,
      contextLength: 128,
      kvCacheType: KvCacheType.KV_CACHE_TYPE_F16,
      microBatch: 16,
      threads: 1,
      sessions: 1,
      fidelity: Fidelity.FIDELITY_FAST,
      ...settings,
    }),
    generation: 1,
    modelPath: stage.modelPath,
    producerNodeId: 1n,
    inboundSocket: '',
    outboundSocket: '',
  };
}
