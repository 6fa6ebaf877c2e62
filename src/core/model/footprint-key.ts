import { KvCacheType, type StageSettings } from '../../../gen/stageplane/v1/provision.js';

/**
 * Names in the ledger what stages of a model with these settings hold, by their layers `[start, end)`: everything that
 * changes a stage's memory, and nothing else. Whether it is first or last follows from its layers. The part of the
 * settings is made once, since a search asks for thousands of ranges.
 */
export function footprintKey(settings: StageSettings): (start: number, end: number) => string {
  const { modelDigest, totalLayers, contextLength, microBatch, sessions } = settings;
  // Quoted, because a name may have spaces: two keys are the same only when all their parts are.
  const [engine, device] = [JSON.stringify(settings.engine), JSON.stringify(settings.device)];
  const cache = `context ${contextLength} cache ${KvCacheType[settings.kvCacheType] ?? settings.kvCacheType}`;
  const step = `micro-batch ${microBatch} flash-attention ${settings.flashAttention ? 'on' : 'off'}`;
  const others = `of ${totalLayers} engine ${engine} device ${device} ${cache} ${step} sessions ${sessions}`;
  return (start, end) => `model ${modelDigest} layers ${start}-${end} ${others}`;
}
