import { describe, expect, it } from 'vitest';
import { layoutTensors } from '../../../src/core/catalogue/layout-tensors.js';
import { layouts } from '../../../src/core/catalogue/layouts.js';
import { type QuantisationName, quantisations } from '../../../src/core/catalogue/quantisations.js';
import { quantisedType } from '../../../src/core/catalogue/quantised-type.js';

function typesOf(name: string, size: string, quantisation: QuantisationName): Map<string, string> {
  const layout = layouts.find((known) => known.name === name && known.size === size)!;
  return new Map(
    layoutTensors(layout).map((tensor) => [tensor.name, quantisedType(tensor, quantisations[quantisation], layout)]),
  );
}

/** Layers of which a tensor is of a type. */
function layersWith(types: Map<string, string>, part: string, type: string): number[] {
  return [...types].flatMap(([name, its]) =>
    its === type && name.endsWith(`.${part}`) ? [Number(name.split('.')[1])] : [],
  );
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

describe('the type of a tensor', () => {
  it('is finer at both ends and in every third layer for Q4_K_M, the values and the way back alike', () => {
    const types = typesOf('qwen3', '8b', 'q4_k_m');
    const finer = [0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 31, 32, 33, 34, 35];
    expect(layersWith(types, 'attn_v.weight', 'Q6_K')).toEqual(finer);
    expect(layersWith(types, 'ffn_down.weight', 'Q6_K')).toEqual(finer);
    expect(types.get('blk.4.ffn_down.weight')).toBe('Q4_K');
    expect(types.get('blk.0.attn_k.weight')).toBe('Q4_K');
  });

  it('is finer in the first layers alone for Q4_K_S', () => {
    const types = typesOf('qwen3', '8b', 'q4_k_s');
    expect(layersWith(types, 'attn_v.weight', 'Q5_K')).toEqual(range(0, 4));
    expect(layersWith(types, 'ffn_down.weight', 'Q5_K')).toEqual(range(0, 4));
  });

  it('has steps for Q3_K_M', () => {
    const types = typesOf('qwen3', '14b', 'q3_k_m');
    expect(layersWith(types, 'attn_v.weight', 'Q5_K')).toEqual([0, 1]);
    expect(layersWith(types, 'attn_v.weight', 'Q4_K')).toEqual(range(2, 40));
    expect(layersWith(types, 'ffn_down.weight', 'Q5_K')).toEqual([0, 1]);
    expect(layersWith(types, 'attn_output.weight', 'Q4_K')).toEqual(range(0, 40));
  });

  it('keeps six bits of the head, and of an embedding that is one', () => {
    expect(typesOf('llama3.1', '8b', 'q4_k_m').get('output.weight')).toBe('Q6_K');
    expect(typesOf('llama3.1', '8b', 'q4_k_m').get('token_embd.weight')).toBe('Q4_K');
    expect(typesOf('gemma3', '4b', 'q4_0').get('token_embd.weight')).toBe('Q6_K');
    expect(typesOf('gemma3', '4b', 'q8_0').get('token_embd.weight')).toBe('Q8_0');
    expect(typesOf('gemma3', '4b', 'bf16').get('token_embd.weight')).toBe('BF16');
  });

  it('gives more to the few values of 80 layers', () => {
    const types = typesOf('llama3.1', '70b', 'q4_k_m');
    expect(layersWith(types, 'attn_v.weight', 'Q4_K')).toEqual([]);
    expect(types.get('blk.10.attn_v.weight')).toBe('Q5_K');
    expect(types.get('blk.12.attn_v.weight')).toBe('Q6_K');
  });

  it('gives more to the attention of eight experts', () => {
    const types = typesOf('mixtral', '8x7b', 'q4_k_m');
    const attention = ['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((part) => types.get(`blk.5.${part}.weight`));
    expect(attention).toEqual(['Q4_K', 'Q8_0', 'Q8_0', 'Q5_K']);
    expect(typesOf('mixtral', '8x7b', 'f16').get('blk.5.attn_k.weight')).toBe('F16');
  });

  it('is another one where rows are no multiple of its blocks', () => {
    const types = typesOf('smollm2', '135m', 'q4_k_m');
    // Rows of 576.
    expect(types.get('token_embd.weight')).toBe('Q8_0');
    expect(types.get('blk.0.attn_v.weight')).toBe('Q8_0');
    expect(types.get('blk.0.attn_q.weight')).toBe('Q5_0');
    // Rows of 1536.
    expect(types.get('blk.0.ffn_down.weight')).toBe('Q6_K');
  });

  it('stays F32 for what is small: norms, biases and the choice of experts', () => {
    const types = typesOf('gpt-oss', '20b', 'mxfp4');
    const count = (type: string) => [...types.values()].filter((its) => its === type).length;
    expect([count('F32'), count('Q8_0'), count('MXFP4')]).toEqual([289, 98, 72]);
    expect(types.get('blk.0.ffn_gate_inp.weight')).toBe('F32');
    expect(types.get('blk.0.ffn_up_exps.bias')).toBe('F32');
  });
});
