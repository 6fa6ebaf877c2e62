import {
  DtypeFamily,
  type GgufSource,
  type ModelFacts,
  type TokenizerSource,
} from '../../../gen/stageplane/v1/model.js';
import type { GgufModelPlan } from '../../../gen/stageplane/v1/plan.js';
import {
  type Choice,
  type Chosen,
  empty,
  field,
  fieldsOf,
  isMessage,
  optional,
  type Reader,
  type Steps,
  unset,
} from './read-message.js';
import { enumValue, text, u32, u64 } from './read-scalar.js';

type HuggingFace = Extract<NonNullable<GgufSource['source']>, { $case: 'huggingFace' }>['value'];

export type WholeGgufSource = Chosen<GgufSource>;

const revision = optional(text);

const huggingFace = ((value, faults) => {
  if (!isMessage<HuggingFace>(value)) return unset(faults);
  return {
    repo: field('repo', text, value.repo, faults),
    file: field('file', text, value.file, faults),
    revision: field('revision', revision, value.revision, faults),
  };
}) satisfies Reader<Record<keyof HuggingFace, string | undefined>>;

const ggufSourceSteps = { localPath: 'local_path', huggingFace: 'hugging_face' } satisfies Steps<GgufSource['source']>;

export const ggufSource: Reader<WholeGgufSource> = (value, faults) => {
  const set = fieldsOf<Choice>(fieldsOf<GgufSource>(value).source);
  switch (set.$case) {
    case 'localPath':
      return { source: { $case: 'localPath', value: field(ggufSourceSteps.localPath, text, set.value, faults) } };
    case 'huggingFace':
      return {
        source: { $case: 'huggingFace', value: field(ggufSourceSteps.huggingFace, huggingFace, set.value, faults) },
      };
    default:
      return unset(faults, ggufSourceSteps);
  }
};

const tokenizerSourceSteps = { embeddedGguf: 'embedded_gguf', localPath: 'local_path' } satisfies Steps<
  TokenizerSource['source']
>;

export const tokenizerSource: Reader<Chosen<TokenizerSource>> = (value, faults) => {
  const set = fieldsOf<Choice>(fieldsOf<TokenizerSource>(value).source);
  switch (set.$case) {
    case 'embeddedGguf':
      return {
        source: { $case: 'embeddedGguf', value: field(tokenizerSourceSteps.embeddedGguf, empty, set.value, faults) },
      };
    case 'localPath':
      return { source: { $case: 'localPath', value: field(tokenizerSourceSteps.localPath, text, set.value, faults) } };
    default:
      return unset(faults, tokenizerSourceSteps);
  }
};

export const dtypeFamily = enumValue(DtypeFamily);

/** As a planner input has it: sizes may be any that a header says. */
export const modelFacts = ((value, faults) => {
  if (!isMessage<ModelFacts>(value)) return unset(faults);
  return {
    modelId: field('model_id', text, value.modelId, faults),
    ggufSource: field('gguf_source', ggufSource, value.ggufSource, faults),
    numLayers: field('num_layers', u32, value.numLayers, faults),
    hiddenDim: field('hidden_dim', u64, value.hiddenDim, faults),
    dtypeFamily: field('dtype_family', dtypeFamily, value.dtypeFamily, faults),
    dtypeWidthBytes: field('dtype_width_bytes', u64, value.dtypeWidthBytes, faults),
    maxSeqLen: field('max_seq_len', u64, value.maxSeqLen, faults),
    eosTokenId: field('eos_token_id', u32, value.eosTokenId, faults),
    tokenizer: field('tokenizer', tokenizerSource, value.tokenizer, faults),
  };
}) satisfies Reader<Required<ModelFacts>>;

/** As a plan has it: sizes fit in the 32 bits of an object spec. */
export const modelPlan = ((value, faults) => {
  if (!isMessage<GgufModelPlan>(value)) return unset(faults);
  return {
    modelId: field('model_id', text, value.modelId, faults),
    ggufSource: field('gguf_source', ggufSource, value.ggufSource, faults),
    numLayers: field('num_layers', u32, value.numLayers, faults),
    hiddenDim: field('hidden_dim', u32, value.hiddenDim, faults),
    dtypeFamily: field('dtype_family', dtypeFamily, value.dtypeFamily, faults),
    dtypeWidthBytes: field('dtype_width_bytes', u32, value.dtypeWidthBytes, faults),
    maxSeqLen: field('max_seq_len', u32, value.maxSeqLen, faults),
    eosTokenId: field('eos_token_id', u32, value.eosTokenId, faults),
    tokenizer: field('tokenizer', tokenizerSource, value.tokenizer, faults),
  };
}) satisfies Reader<Required<GgufModelPlan>>;
