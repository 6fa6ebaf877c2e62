import { SamplingPolicy } from '../../gen/stageplane/v1/plan.js';
import { Fidelity, KvCacheType } from '../../gen/stageplane/v1/provision.js';
import { StageFaultReason, type StageFootprint } from '../../gen/stageplane/v1/run.js';
import type { PrepareStage } from '../../gen/stageplane/v1/worker.js';
import { openKnown } from '../gguf/slice/known-headers.js';
import { openForSlices } from '../gguf/slice/write-slice.js';
import { modelFault } from './check-model.js';
import { type CheckedPrepare, checkPrepare } from './check-prepare.js';
import { type EngineList, engineList } from './engine/engines.js';
import { inclusiveRange } from './engine/layer-range.js';
import { type LoadOptions, LoadRequest } from './engine/load.js';
import type { Recipe } from './engine/recipe.js';
import type { SessionEngine } from './engine/session-engine.js';
import type { StatusCode } from './engine/status.js';
import { samplingSettings } from './sampling-object.js';
import { type WorkerFault, workerFault } from './stage-fault.js';

export type PrepareOutcome =
  | { readonly kind: 'ready'; readonly footprint: StageFootprint; readonly engine: SessionEngine }
  | { readonly kind: 'faulted'; readonly fault: WorkerFault };

export interface PrepareOptions extends LoadOptions {
  /** Default: our own. */
  readonly engines?: EngineList;
  /** Folder where the headers of models are kept, see `openKnown`; without it, each load reads the header. */
  readonly headers?: string | undefined;
  /** Done once the command is sound, before the file is opened; a fault ends the preparation. */
  readonly beforeLoad?: (checked: CheckedPrepare) => Promise<WorkerFault | undefined>;
}

/** Carries out a prepare command: checks it, checks the file, and loads the stage's layers. */
export async function prepareStage(command: PrepareStage, options: PrepareOptions): Promise<PrepareOutcome> {
  const checked = checkPrepare(command, options.engines ?? engineList);
  if (checked.kind === 'refused') return { kind: 'faulted', fault: checked.fault };
  const early = await options.beforeLoad?.(checked);
  if (early !== undefined) return { kind: 'faulted', fault: early };
  // Once for all: the vocabulary in a header can be as large as a layer.
  const { headers } = options;
  const opened = await (headers ? openKnown(checked.modelPath, headers) : openForSlices(checked.modelPath));
  if (opened.kind === 'refused') return faulted(fileReason(opened.error.kind), opened.error.message);
  const mismatch = await modelFault(checked, opened.model);
  if (mismatch !== undefined) return { kind: 'faulted', fault: mismatch };
  const engine = await checked.engine.make();
  const loaded = await engine.load(loadRequest(checked), { ...options, model: opened.model });
  if (loaded.status.code !== 'OK') return faulted(loadReason(loaded.status.code), loaded.status.message);
  return { kind: 'ready', footprint: footprintOf(engine), engine };
}

function loadRequest({ provision, settings, modelPath }: CheckedPrepare): LoadRequest {
  const sampling = provision.runtime?.sampling;
  const recipe: Recipe = {
    device: settings.device,
    contextLength: settings.contextLength,
    sessions: settings.sessions,
    microBatch: settings.microBatch,
    kvCacheType: kvCacheTypes[settings.kvCacheType] ?? 'F16',
    flashAttention: settings.flashAttention,
    threads: settings.threads,
    fidelity: settings.fidelity === Fidelity.FIDELITY_EXACT ? 'EXACT' : 'FAST',
    ...samplingSettings(sampling ?? SamplingPolicy.create(), settings.seed),
  };
  const range = inclusiveRange(provision.layerStart, provision.layerEndExclusive);
  return new LoadRequest({ artifactPath: modelPath, ...range, totalLayers: settings.totalLayers, recipe });
}

const kvCacheTypes: Partial<Record<KvCacheType, Recipe['kvCacheType']>> = {
  [KvCacheType.KV_CACHE_TYPE_F16]: 'F16',
  [KvCacheType.KV_CACHE_TYPE_Q8_0]: 'Q8_0',
  [KvCacheType.KV_CACHE_TYPE_Q4_0]: 'Q4_0',
};

function footprintOf(engine: SessionEngine): StageFootprint {
  const { bytesRead, bytesDigest, deviceBytes } = engine.footprint!;
  return {
    bytesRead: BigInt(bytesRead),
    bytesDigest,
    deviceBytes: BigInt(deviceBytes),
    hostBytes: BigInt(process.memoryUsage.rss()),
  };
}

function fileReason(kind: string): StageFaultReason {
  return kind === 'missing-file'
    ? StageFaultReason.STAGE_FAULT_REASON_MODEL_NOT_FOUND
    : StageFaultReason.STAGE_FAULT_REASON_MODEL_INVALID;
}

function loadReason(code: StatusCode): StageFaultReason {
  switch (code) {
    case 'UNIMPLEMENTED':
      return StageFaultReason.STAGE_FAULT_REASON_SETTINGS_REFUSED;
    case 'RESOURCE_EXHAUSTED':
      return StageFaultReason.STAGE_FAULT_REASON_OUT_OF_MEMORY;
    default:
      return StageFaultReason.STAGE_FAULT_REASON_LOAD_FAILED;
  }
}

function faulted(reason: StageFaultReason, message: string): PrepareOutcome {
  return { kind: 'faulted', fault: workerFault(reason, message) };
}
