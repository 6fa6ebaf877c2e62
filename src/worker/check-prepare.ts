import { DtypeFamily } from '../../gen/stageplane/v1/model.js';
import type { ProvisionStage, StageSettings } from '../../gen/stageplane/v1/provision.js';
import { Fidelity, KvCacheType } from '../../gen/stageplane/v1/provision.js';
import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import type { PrepareStage } from '../../gen/stageplane/v1/worker.js';
import { chooseAmong } from '../core/choose-among.js';
import { limits } from '../core/limits.js';
import { samplingProblems } from '../core/sampling-problems.js';
import { type CheckedEdges, checkEdges } from './check-edges.js';
import type { EngineEntry, EngineList } from './engine/engines.js';
import { type WorkerFault, workerFault } from './stage-fault.js';

/** A prepare command whose parts are all there and fit together. */
export interface CheckedPrepare {
  readonly kind: 'checked';
  readonly provision: ProvisionStage;
  readonly settings: StageSettings;
  readonly modelPath: string;
  readonly engine: EngineEntry;
  /** Absent when the command names no sockets. */
  readonly edges: CheckedEdges | undefined;
}

export type PrepareCheck = CheckedPrepare | { readonly kind: 'refused'; readonly fault: WorkerFault };

/** Checks everything that needs no file. The first thing that is wrong decides. */
export function checkPrepare(command: PrepareStage, engines: EngineList): PrepareCheck {
  const { provision, settings, modelPath } = command;
  if (provision === undefined) return malformed('has no provision');
  if (settings === undefined) return malformed('has no settings');
  if (modelPath === '') return malformed('has no model_path');
  const rangeProblem = problemOfRange(provision, settings);
  if (rangeProblem !== undefined) return malformed(rangeProblem);
  const engine = engines.offered.get(settings.engine);
  if (engine === undefined) {
    const unknown = `this worker has no engine "${settings.engine}", ${chooseAmong([...engines.offered.keys()])}`;
    return unavailable(engines.absent.get(settings.engine) ?? unknown);
  }
  if (engine.devices?.includes(settings.device) === false) {
    const usable = chooseAmong(engine.devices);
    return unavailable(`engine "${settings.engine}" cannot use device "${settings.device}" on this node, ${usable}`);
  }
  const setting = refusedSetting(provision, settings);
  if (setting !== undefined) {
    return refused(StageFaultReason.STAGE_FAULT_REASON_SETTINGS_REFUSED, setting);
  }
  const edges = checkEdges(command, provision, settings);
  if (edges.kind === 'malformed') return malformed(edges.problem);
  return {
    kind: 'checked',
    provision,
    settings,
    modelPath,
    engine,
    edges: edges.kind === 'edges' ? edges : undefined,
  };
}

function problemOfRange(provision: ProvisionStage, settings: StageSettings): string | undefined {
  const { layerStart, layerEndExclusive: layerEnd, stageIndex, stageCount } = provision;
  const { totalLayers } = settings;
  if (layerStart >= layerEnd || layerEnd > totalLayers) {
    return `asks for layers [${layerStart}, ${layerEnd}) of ${totalLayers}`;
  }
  if (stageIndex >= stageCount) return `names stage ${stageIndex} of ${stageCount}`;
  if ((stageIndex === 0) !== (layerStart === 0)) return `gives stage ${stageIndex} layers from ${layerStart} on`;
  if ((stageIndex === stageCount - 1) !== (layerEnd === totalLayers)) {
    return `ends stage ${stageIndex} of ${stageCount} at layer ${layerEnd} of ${totalLayers}`;
  }
  return undefined;
}

/** A sentence about the first setting that no engine of this worker can honour. */
function refusedSetting({ model, runtime }: ProvisionStage, settings: StageSettings): string | undefined {
  const known = (type: Record<number, string>, value: number) => value > 0 && type[value] !== undefined;
  if (settings.contextLength === 0) return 'context_length is 0: plan at least 1 token';
  if (settings.sessions === 0 || settings.sessions > limits.sessionsPerStage) {
    return `sessions is ${settings.sessions}: plan 1 to ${limits.sessionsPerStage}`;
  }
  if (settings.threads === 0 || settings.threads > limits.threadsPerStage) {
    return `threads is ${settings.threads}: plan 1 to ${limits.threadsPerStage}`;
  }
  if (settings.microBatch === 0 || settings.microBatch > limits.microBatchRows) {
    return `micro_batch is ${settings.microBatch}: plan 1 to ${limits.microBatchRows} rows`;
  }
  if (!known(KvCacheType, settings.kvCacheType)) return 'kv_cache_type is not set: plan F16';
  if (!known(Fidelity, settings.fidelity)) return 'fidelity is not set: plan FAST or EXACT';
  if (model !== undefined && (model.dtypeFamily !== DtypeFamily.DTYPE_FAMILY_FLOAT || model.dtypeWidthBytes !== 4)) {
    const dtype = `${DtypeFamily[model.dtypeFamily]} of ${model.dtypeWidthBytes} bytes`;
    return `dtype_family is ${dtype}: activations of this worker are DTYPE_FAMILY_FLOAT of 4 bytes`;
  }
  const [problem] = runtime?.sampling === undefined ? [] : samplingProblems(runtime.sampling);
  return problem && `sampling.${problem.field} ${problem.description}`;
}

function malformed(what: string): PrepareCheck {
  return refused(StageFaultReason.STAGE_FAULT_REASON_INVALID_DELIVERY, `the prepare command ${what}`);
}

function unavailable(message: string): PrepareCheck {
  return refused(StageFaultReason.STAGE_FAULT_REASON_ENGINE_UNAVAILABLE, message);
}

function refused(reason: StageFaultReason, message: string): PrepareCheck {
  return { kind: 'refused', fault: workerFault(reason, message) };
}
