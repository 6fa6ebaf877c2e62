import type { RunState } from '../../core/machine/state.js';
import type { ModelLibrary } from '../model-library.js';

/** The file with a run's tokenizer; empty for the fixture engine, whose tokens are bytes. Rejects with RpcError. */
export async function findTokenizer(library: ModelLibrary, { plan, settings }: RunState): Promise<string> {
  if (settings[0]?.engine === 'fixture') return '';
  const { tokenizer, ggufSource } = plan.model ?? {};
  const source = tokenizer?.source?.$case === 'localPath' ? { source: tokenizer.source } : ggufSource;
  return library.find(source);
}
