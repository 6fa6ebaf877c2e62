import { inspectModel } from '../gguf/inspect-model.js';
import { keptForSlices } from '../gguf/slice/write-slice.js';
import { judgeForLlama } from '../orchestrator/engine-verdict.js';
import type { FoundKnownModel } from '../orchestrator/known-model.js';

/** A file on this machine, to be planned without the orchestrator's help. */
export async function readModel(path: string): Promise<FoundKnownModel> {
  const read = await inspectModel(path, { keep: keptForSlices });
  if (read.kind === 'refused') return { kind: 'refused', message: read.error.message };
  const { inspection, obstacle, model } = read;
  return { kind: 'found', model: { inspection, obstacle, llama: await judgeForLlama(model) } };
}
