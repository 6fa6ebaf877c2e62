import { expect, it } from 'vitest';
import { RuntimePlan } from '../../../gen/stageplane/v1/plan.js';
import { planView } from '../../../src/cli/format/plan-view.js';
import { samplePlan, sampleReport, sampleSettings } from '../sample.js';

const names = new Map([
  [2n, 'alpha'],
  [3n, 'be\u001b[31mta'],
]);

it('draws each stage over the layer range, with warnings and nodes left out', () => {
  const text = planView({ plan: samplePlan, settings: sampleSettings, report: sampleReport, names });
  expect(text.split('\n')).toEqual([
    'model:    tiny, 8 layers of width 64, /m/tiny.gguf',
    'engine:   fixture on cpu, 2048 tokens of context',
    'settings: micro-batch 512, sessions 1, KV cache F16, flash attention off, seed 0',
    'fidelity: mixed',
    `plan id:  ${'ab'.repeat(32)}`,
    '',
    'STAGE  NODE              LAYERS  0 TO 8                            THREADS    BYTES',
    `    0  alpha (2)         [0, 3)  ${'█'.repeat(12)}${'·'.repeat(20)}        4  1.0 KiB`,
    `    1  be\\x1b[31mta (3)  [3, 8)  ${'·'.repeat(12)}${'█'.repeat(20)}        2  unknown`,
    '',
    'warning: stage 5 is ignored',
    'not used: gamma (4), cordoned: node "gamma" is cordoned',
  ]);
});

it('says how tokens are chosen when that is not simply the likeliest', () => {
  const plan = { ...samplePlan, runtime: RuntimePlan.fromPartial({ sampling: { temperatureMillis: 700, topK: 40 } }) };
  const text = planView({ plan, settings: sampleSettings, report: sampleReport, names });
  expect(text).toContain('\nsampling: temperature 0.7, top 40\n');
});
