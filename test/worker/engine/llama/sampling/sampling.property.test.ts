import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pickToken } from '../../../../../src/worker/engine/llama/pick-token.js';
import { candidatesOf } from '../../../../../src/worker/engine/llama/sampling/candidates.js';
import { unitAt } from '../../../../../src/worker/engine/llama/sampling/draw.js';
import { greatestOf } from '../../../../../src/worker/engine/llama/sampling/greatest.js';
import { penalise } from '../../../../../src/worker/engine/llama/sampling/penalise.js';
import { SaidTokens } from '../../../../../src/worker/engine/said-tokens.js';
import { GREEDY, type SamplingSettings } from '../../../../../src/worker/engine/sampling.js';

/** Logits with equals among them, some that are as good as impossible, and some that are. */
const logit = fc.oneof(
  { weight: 6, arbitrary: fc.float({ min: -20, max: 20, noNaN: true }) },
  { weight: 3, arbitrary: fc.integer({ min: -3, max: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(-3e38, Number.NEGATIVE_INFINITY) },
);
const logits = fc.array(logit, { minLength: 1, maxLength: 200 }).map((values) => Float32Array.from(values));
const settings = fc.record({
  temperatureMillis: fc.constantFrom(0, 1, 700, 1000, 2500),
  topK: fc.constantFrom(0, 1, 2, 7, 40, 500),
  topPMillis: fc.constantFrom(0, 1, 300, 900, 999, 1000),
  minPMillis: fc.constantFrom(0, 1, 50, 500, 1000),
  repeatPenaltyMillis: fc.constantFrom(0, 500, 1000, 1300),
  repeatLastN: fc.constantFrom(0, 1, 5),
  presencePenaltyMillis: fc.constantFrom(0, -2000, 600),
  frequencyPenaltyMillis: fc.constantFrom(0, -300, 2000),
  seed: fc.bigInt(0n, 2n ** 64n - 1n),
}) satisfies fc.Arbitrary<SamplingSettings>;
const tokens = fc.array(fc.nat(210), { maxLength: 20 });

/** Every id, likeliest first, by sorting all of them. */
function sorted(values: Float32Array): number[] {
  return [...values.keys()].sort((a, b) => (values[a] === values[b] ? a - b : values[a]! < values[b]! ? 1 : -1));
}

/** The penalties one by one, over plain lists. */
function slowPenalties(values: Float32Array, of: SamplingSettings, prompt: number[], answer: number[]): number[] {
  const seen = [...prompt, ...answer].slice(-(of.repeatLastN || 64));
  return [...values].map((value, id) => {
    let now = value;
    if (of.repeatPenaltyMillis !== 0 && seen.includes(id)) {
      const penalty = of.repeatPenaltyMillis / 1000;
      now = Math.fround(now <= 0 ? now * penalty : now / penalty);
    }
    const count = answer.filter((token) => token === id).length;
    const present = count > 0 ? of.presencePenaltyMillis / 1000 : 0;
    return Math.fround(now - (count * (of.frequencyPenaltyMillis / 1000) + present));
  });
}

/** The candidates by the definitions of top_k, top_p and min_p, over the sorted whole. */
function slowCandidates(values: Float32Array, of: SamplingSettings): number[] {
  const ids = sorted(values);
  const most = values[ids[0]!]!;
  let kept = of.topK > 0 ? ids.slice(0, of.topK) : ids;
  if (of.topPMillis > 0 && of.topPMillis < 1000) {
    // The sum in the order in which it is made, so that its last bit is the same.
    const inOrder = of.topK > 0 && of.topK < ids.length ? kept : [...kept].sort((a, b) => a - b);
    const whole = inOrder.reduce((sum, id) => sum + Math.exp(values[id]! - most), 0);
    let share = 0;
    const end = kept.findIndex((id) => {
      share += Math.exp(values[id]! - most);
      return share >= (of.topPMillis / 1000) * whole;
    });
    if (end >= 0) kept = kept.slice(0, end + 1);
  }
  return of.minPMillis > 0 ? kept.filter((id) => values[id]! >= most + Math.log(of.minPMillis / 1000)) : kept;
}

function saidOf(of: SamplingSettings, prompt: number[], answer: number[]): SaidTokens {
  const said = new SaidTokens({ settings: of, position: prompt.length, promptTail: prompt });
  for (const [index, token] of answer.entries()) said.add(prompt.length + index, token);
  return said;
}

describe('sampling', () => {
  it('finds the greatest logits as a sort of all does', () => {
    fc.assert(
      fc.property(logits, fc.integer({ min: 1, max: 250 }), (values, count) => {
        expect([...greatestOf(values, count)]).toEqual(sorted(values).slice(0, count));
      }),
    );
  });

  it('penalises what was said as the definition does, and nothing else', () => {
    fc.assert(
      fc.property(logits, settings, tokens, tokens, (values, of, prompt, answer) => {
        const changed = values.slice();
        penalise(changed, of, saidOf(of, prompt, answer));
        expect([...changed]).toEqual(slowPenalties(values, of, prompt, answer));
      }),
    );
  });

  it('keeps the candidates that a sort of all keeps, in its order', () => {
    fc.assert(
      fc.property(logits, settings, (values, of) => {
        const most = Math.max(...values);
        fc.pre(Number.isFinite(most));
        const kept = candidatesOf(values, most, of);
        if (kept === undefined) expect(slowCandidates(values, of)).toHaveLength(values.length);
        else expect([...kept]).toEqual(slowCandidates(values, of));
      }),
    );
  });

  it('looks further than its first look when many are about as likely', () => {
    const flat = Float32Array.from({ length: 5000 }, (_, id) => Math.fround(Math.sin(id) / 100));
    for (const topPMillis of [10, 500, 990]) {
      const of = { ...GREEDY, temperatureMillis: 1000, topPMillis };
      expect([...candidatesOf(flat, Math.max(...flat), of)!]).toEqual(slowCandidates(flat, of));
    }
  });

  it('picks a token that is a candidate, and with a weight of its own', () => {
    fc.assert(
      fc.property(logits, settings, tokens, tokens, fc.nat(1000), (values, of, prompt, answer, position) => {
        const penalised = Float32Array.from(slowPenalties(values, of, prompt, answer));
        const picked = pickToken(values.slice(), position, of, saidOf(of, prompt, answer));
        const [first = 0] = sorted(penalised);
        if (of.temperatureMillis === 0 || of.topK === 1) expect(picked).toBe(first);
        else if (penalised[first] === Number.NEGATIVE_INFINITY) expect(picked).toBe(0);
        else {
          expect(slowCandidates(penalised, of)).toContain(picked);
          expect(penalised[picked]).toBeGreaterThan(Number.NEGATIVE_INFINITY);
        }
      }),
    );
  });

  it('says the one that is certain, and fails where penalties know nothing of what was said', () => {
    const certain = Float32Array.of(1, Number.POSITIVE_INFINITY, 5, Number.POSITIVE_INFINITY);
    expect(pickToken(certain, 0, { ...GREEDY, temperatureMillis: 900, topPMillis: 500 })).toBe(1);
    expect(() => pickToken(Float32Array.of(1, 2), 0, { ...GREEDY, presencePenaltyMillis: 1 })).toThrow('SAMPLING');
  });

  it('draws alike for a seed and a position, and as evenly as can be over them', () => {
    expect(unitAt(7n, 3)).toBe(unitAt(7n, 3));
    const mean = Array.from({ length: 4000 }, (_, at) => unitAt(7n, at)).reduce((sum, unit) => sum + unit, 0) / 4000;
    expect(mean).toBeCloseTo(0.5, 1);
  });
});

describe('what was said', () => {
  it('is what it was, once steps are done again', () => {
    fc.assert(
      fc.property(tokens, tokens, fc.nat(30), (prompt, answer, back) => {
        const of = { ...GREEDY, repeatPenaltyMillis: 1100, repeatLastN: 6 };
        const said = saidOf(of, prompt, answer);
        const length = Math.max(0, answer.length - back);
        said.rewind(prompt.length + length);
        const fresh = saidOf(of, prompt, answer.slice(0, length));
        expect([...said.recent()]).toEqual([...fresh.recent()]);
        expect([...said.counts]).toEqual([...fresh.counts]);
      }),
    );
  });
});
