/** Which stages need a tensor. */
export type TensorGroup =
  /** `blk.N`: the stage whose range has N. */
  | { readonly kind: 'layer'; readonly index: number }
  /** `blk.N` at or above the model's layers: a multi-token-prediction layer, loaded by no stage. */
  | { readonly kind: 'next-token-prediction' }
  /** `token_embd*`: the first stage, and the last one when the head is tied. */
  | { readonly kind: 'embedding' }
  /** `output*`, the output norm included: the last stage. */
  | { readonly kind: 'head' }
  /** All others, such as `rope_freqs`: every stage. */
  | { readonly kind: 'global' };

const layerName = /^blk\.(\d+)\./;

/** The group of a tensor in a model of `numLayers` layers. */
export function tensorGroup(name: string, numLayers: number): TensorGroup {
  const layer = layerName.exec(name);
  if (layer !== null) {
    const index = Number(layer[1]);
    return index < numLayers ? { kind: 'layer', index } : { kind: 'next-token-prediction' };
  }
  if (name.startsWith('token_embd')) return { kind: 'embedding' };
  if (name.startsWith('output')) return { kind: 'head' };
  return { kind: 'global' };
}
