import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { TokenizerKind } from '../../gen/stageplane/v1/token_endpoint.js';
import { openModel } from '../gguf/open-model.js';
import { findLlamaPackage } from '../worker/engine/llama/llama-package.js';
import { type WorkerFault, workerFault } from '../worker/stage-fault.js';
import { byteTokenizer } from './byte-tokenizer.js';
import { modelTokenizer } from './model-tokenizer.js';
import type { Tokenizer } from './tokenizer.js';

export type TokenizerOutcome =
  | { readonly kind: 'opened'; readonly tokenizer: Tokenizer }
  | { readonly kind: 'refused'; readonly fault: WorkerFault };

/** The tokenizers that work on this machine. */
export function usableTokenizers(): TokenizerKind[] {
  const hasLibrary = findLlamaPackage().kind === 'found';
  return [...(hasLibrary ? [TokenizerKind.TOKENIZER_KIND_MODEL] : []), TokenizerKind.TOKENIZER_KIND_BYTES];
}

/** Opens the tokenizer of a run; the model's own needs the library of llama.cpp and a file that has one. */
export async function openTokenizer(
  kind: TokenizerKind.TOKENIZER_KIND_MODEL | TokenizerKind.TOKENIZER_KIND_BYTES,
  modelPath: string,
): Promise<TokenizerOutcome> {
  if (kind === TokenizerKind.TOKENIZER_KIND_BYTES) return { kind: 'opened', tokenizer: byteTokenizer };
  const library = findLlamaPackage();
  if (library.kind === 'refused') {
    return refused(StageFaultReason.STAGE_FAULT_REASON_ENGINE_UNAVAILABLE, library.message);
  }
  // The library says of such a file only that it cannot load it.
  const problem = await problemOfModel(modelPath);
  if (problem !== undefined) return refused(StageFaultReason.STAGE_FAULT_REASON_MODEL_INVALID, problem);
  const { openVocabulary } = await import('../worker/engine/llama/vocabulary.js');
  const opened = await openVocabulary(modelPath);
  if (opened.kind === 'opened') return { kind: 'opened', tokenizer: modelTokenizer(opened.vocabulary) };
  const advice = 'choose a model whose tokenizer this build of llama.cpp knows';
  return refused(StageFaultReason.STAGE_FAULT_REASON_MODEL_INVALID, `${opened.message}: ${advice}`);
}

async function problemOfModel(path: string): Promise<string | undefined> {
  const opened = await openModel(path);
  if (opened.kind === 'refused') return opened.error.message;
  const found = opened.model.metadata.entries.get('tokenizer.ggml.model');
  if (found?.kind === 'string' && found.value !== 'no_vocab') return undefined;
  return `${path} has no tokenizer (tokenizer.ggml.model): convert the model again with its tokenizer`;
}

function refused(reason: StageFaultReason, message: string): TokenizerOutcome {
  return { kind: 'refused', fault: workerFault(reason, message) };
}
