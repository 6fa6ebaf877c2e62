import type { ModelInspection } from '../../gen/stageplane/v1/model.js';

/** Architectures without causal attention: a token needs its successors, so nothing can be generated stage by stage. */
const notCausal = new Set([
  'bert',
  'clip',
  'dream',
  'eurobert',
  'gemma-embedding',
  'jina-bert-v2',
  'jina-bert-v3',
  'llada',
  'llada-moe',
  'llama-embed',
  'modern-bert',
  'neo-bert',
  'nomic-bert',
  'nomic-bert-moe',
  'rnd1',
  't5encoder',
  'wavtokenizer-dec',
]);

/** Encoder and decoder in one: `blk.N` names two stacks of layers. */
const encoderDecoder = new Set(['t5']);

const LISTED_LAYERS = 4;

/**
 * Why a model cannot be planned though its header could be read, as a sentence, or undefined when nothing stands in the
 * way. `causalAttention` is the file's `<arch>.attention.causal`.
 */
export function planningObstacle(inspection: ModelInspection, causalAttention = true): string | undefined {
  const { architecture, facts, layers } = inspection;
  const name = facts?.modelId ?? '';
  if (notCausal.has(architecture) || !causalAttention) {
    return `${name} cannot be planned: architecture ${architecture} has no causal attention, so it generates no text`;
  }
  if (encoderDecoder.has(architecture)) {
    return `${name} cannot be planned: architecture ${architecture} has an encoder beside its decoder`;
  }
  if (inspection.recurrent) {
    return (
      `${name} cannot be planned: layers of architecture ${architecture} keep a recurrent state, which cannot be cut ` +
      'back to an earlier token; choose a model that keeps keys and values only'
    );
  }
  if (layers === undefined || layers.layers.length === 0) {
    return `${name} cannot be planned: the file has no layers' tensors, only a vocabulary or parts; name the whole model`;
  }
  const empty = layers.layers.filter(({ tensorCount }) => tensorCount === 0).map(({ index }) => index);
  if (empty.length > 0) {
    const more = empty.length > LISTED_LAYERS ? ` and ${empty.length - LISTED_LAYERS} more` : '';
    return (
      `${name} cannot be planned: of its ${layers.layers.length} layers the file lacks ` +
      `${empty.slice(0, LISTED_LAYERS).join(', ')}${more}; name the whole model`
    );
  }
  if (layers.embeddingBytes === 0n) return `${name} cannot be planned: the file has no token embedding`;
  if (inspection.contextLength === 0n) {
    return `${name} cannot be planned: the file does not say ${architecture}.context_length; give facts with max_seq_len`;
  }
  return undefined;
}
