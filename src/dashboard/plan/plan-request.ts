import { RuntimeConfig } from '../../../gen/stageplane/v1/plan.js';
import { PlanRequest } from '../../../gen/stageplane/v1/planner.js';
import { Fidelity, KvCacheType, StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { findModel } from '../../core/catalogue/find-model.js';
import { placementOf } from './placement-of.js';
import type { PlanForm } from './plan-form.js';
import { inParts, whole } from './typed-number.js';

const fidelities = { fast: Fidelity.FIDELITY_FAST, exact: Fidelity.FIDELITY_EXACT };
const kvCacheTypes = {
  '': KvCacheType.KV_CACHE_TYPE_UNSPECIFIED,
  f16: KvCacheType.KV_CACHE_TYPE_F16,
  q8_0: KvCacheType.KV_CACHE_TYPE_Q8_0,
  q4_0: KvCacheType.KV_CACHE_TYPE_Q4_0,
};

/** What the form asks of the planner. Whether that makes sense is the orchestrator's to say. */
export function planRequestOf(form: PlanForm): PlanRequest {
  const { model, engine, fidelity, kvCacheType, flashAttention } = form;
  return PlanRequest.fromPartial({
    model: { source: { $case: 'localPath', value: model.trim() } },
    runtime: runtimeOf(form),
    settings: StageSettings.fromPartial({
      engine,
      contextLength: whole(form.context),
      sessions: whole(form.sessions),
      threads: whole(form.threads),
      microBatch: whole(form.microBatch),
      fidelity: fidelities[fidelity],
      kvCacheType: kvCacheTypes[kvCacheType],
      flashAttention,
    }),
    placement: placementOf(form),
  });
}

/** Undefined when nothing is asked of the text. */
function runtimeOf({ prompt, maxTokens, temperature }: PlanForm): RuntimeConfig | undefined {
  if (prompt === '' && maxTokens === '' && temperature === '') return undefined;
  return RuntimeConfig.fromPartial({
    ...(prompt !== '' && { prompt: { source: { $case: 'inline', value: prompt } } }),
    maxTokens: whole(maxTokens),
    sampling: { temperatureMillis: inParts(temperature, 1000) },
  });
}

/** Whether the model is one of the catalogue, of which there need not be a file. */
export function isReference({ model }: PlanRequest): boolean {
  return model?.source?.$case === 'localPath' && findModel(model.source.value).kind === 'found';
}
