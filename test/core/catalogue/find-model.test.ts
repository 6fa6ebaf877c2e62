import { describe, expect, it } from 'vitest';
import { findModel } from '../../../src/core/catalogue/find-model.js';

function message(reference: string): string {
  const found = findModel(reference);
  return found.kind === 'refused' ? found.message : `found ${found.model.reference}`;
}

describe('findModel', () => {
  it('reads a name, a size and a quantisation in letters of any case', () => {
    expect(message('llama3.1:8b@q8_0')).toBe('found llama3.1:8b@q8_0');
    expect(message('Llama3.1:8B@Q8_0')).toBe('found llama3.1:8b@q8_0');
  });

  it('takes Q4_K_M when nobody says, or what the makers publish', () => {
    expect(message('qwen3:235b-a22b')).toBe('found qwen3:235b-a22b@q4_k_m');
    expect(message('gpt-oss:20b')).toBe('found gpt-oss:20b@mxfp4');
  });

  it('names the sizes of a model that has not this one', () => {
    expect(message('llama3.1:9b')).toBe(
      '"llama3.1:9b" is no well-known model; choose one of llama3.1:8b, llama3.1:70b, llama3.1:405b, or name a file',
    );
    expect(message('mistral')).toContain('choose one of mistral:7b, or');
  });

  it('names models that begin alike, and all of them when none does', () => {
    expect(message('llama:8b')).toMatch(/choose one of llama3\.1:8b, .*llama3\.3:70b, or name a file$/);
    expect(message('llama:8b')).not.toContain('qwen');
    for (const stranger of ['', 'phi4:14b', ':', '70b', 'a:b:c', 'llama3.1:8b@', '@q4_0']) {
      expect(message(stranger), stranger).toContain('is no well-known model; choose one of ');
    }
    expect(message('phi4:14b')).toMatch(/llama3\.1:8b.*gpt-oss:120b/);
  });

  it('names the quantisations that there are of a model', () => {
    expect(message('llama3.1:8b@q9')).toMatch(
      /^llama3\.1:8b is not known as "q9"; choose one of f16, bf16, q8_0, .*q3_k_s$/,
    );
    expect(message('llama3.1:8b@mxfp4')).toContain('is not known as "mxfp4"');
    expect(message('gpt-oss:20b@q4_k_m')).toBe('gpt-oss:20b is not known as "q4_k_m"; choose one of mxfp4');
  });

  it('stays short for what is long', () => {
    expect(message('x'.repeat(100_000)).length).toBeLessThan(1000);
  });
});
