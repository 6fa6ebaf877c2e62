import { expect, it } from 'vitest';
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
    'fidelity: mixed',
    `plan id:  ${'ab'.repeat(32)}`,
    '',
    'STAGE  NODE              LAYERS  0 TO 8                              BYTES',
    `    0  alpha (2)         [0, 3)  ${'█'.repeat(12)}${'·'.repeat(20)}  1.0 KiB`,
    `    1  be\\x1b[31mta (3)  [3, 8)  ${'·'.repeat(12)}${'█'.repeat(20)}  unknown`,
    '',
    'warning: stage 5 is ignored',
    'not used: gamma (4), cordoned: node "gamma" is cordoned',
  ]);
});
