import { expect, it } from 'vitest';
import { RuntimePlan } from '../../../gen/stageplane/v1/plan.js';
import type { PlanReport } from '../../../gen/stageplane/v1/planner.js';
import { planView } from '../../../src/cli/format/plan-view.js';
import { alpha, beta, pricedReport, sampleNode, samplePlan, sampleReport, sampleSettings } from '../sample.js';

const nodes = [alpha, sampleNode(3n, 'be\u001b[31mta')];
const view = (report: PlanReport, known = [alpha, beta]) =>
  planView({ plan: samplePlan, settings: sampleSettings, report, nodes: known });

it('draws each stage over the layer range, with warnings and nodes left out', () => {
  expect(view(sampleReport, nodes).split('\n')).toEqual([
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

it('draws the memory of each device that is used, and what else was looked at', () => {
  const text = view(pricedReport);
  expect(text.slice(text.indexOf('chosen:'), text.indexOf('plan id:')).trimEnd().split('\n')).toEqual([
    'chosen:   balance-by-vram; objective fastest: 46.9 ms per token, the best of 3 placements that fit;',
    '          it uses 2 of 2 nodes that can take a stage, 50 % of the fullest device',
  ]);
  expect(text.slice(text.indexOf('\n\n') + 2, text.indexOf('\n\nSTAGE')).split('\n')).toEqual([
    'NODE       DEVICE  MEMORY                                    FULL',
    'alpha (2)  cpu     xxxxxxxxxxWWWWWWWWWWKKKEB···············  63% of 16.0 GiB',
    'beta (3)   cpu     xxxxxxxxxxWWWWWWWWWWWWWWWKKKEB··········  75% of 16.0 GiB',
    '',
    'NODE       W WEIGHTS  K KV CACHE  E EMB, HEAD  B BUFFERS  x IN USE   · FREE',
    'alpha (2)   ~4.0 GiB    ~1.0 GiB     ~512 MiB   ~512 MiB   4.0 GiB  6.0 GiB',
    'beta (3)     6.0 GiB     1.0 GiB      512 MiB    512 MiB   4.0 GiB  4.0 GiB',
    "~ computed from the model's header, else measured; IN USE: by other programs and other stages",
  ]);
  expect(text.slice(text.indexOf('CANDIDATE')).split('\n')).toEqual([
    'CANDIDATE        STAGES      TOKENS/S  FULLEST DEVICE  STATUS',
    'single-node           -             -  -               infeasible',
    '    stage 0 needs 12.0 GiB (12884901888 bytes), node "alpha" can give 8.5 GiB: 3.5 GiB too little on',
    '    device "cpu" (and 1 more)',
    'balance-by-vram       2         ~21.3  beta 75%        selected',
    'even-split            2  9.5 measured  beta 81%        rejected_dominated',
    '    no better than balance-by-vram',
    'TOKENS/S: what a token reads',
    '',
    'warning: stage 1 takes 91 % of what node "beta" can give: a longer context would not fit',
    'not used: gamma (4), cordoned: node "gamma" is cordoned',
  ]);
});

it('keeps to 100 columns whatever nodes and candidates are called, and shows no control character', () => {
  const long = `n${'\u001b[2J'.repeat(15)}`;
  const candidates = pricedReport.candidates.map((candidate) => ({
    ...candidate,
    name: `${candidate.name}, ${'least peak '.repeat(8)}`,
    reasons: [`because\n${'of this and that '.repeat(20)}`],
  }));
  const text = view({ ...pricedReport, candidates }, [sampleNode(2n, long), sampleNode(3n, long)]);
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
  expect(text).not.toMatch(/[^\P{Cc}\n]/u);
});

it('says that it does not know a device, and draws no free memory', () => {
  const blind = { ...beta, descriptor: { ...beta.descriptor!, devices: [] } };
  const text = view(pricedReport, [alpha, blind]);
  expect(text).toContain(`beta (3)   -       ${'?'.repeat(40)}  size unknown\n`);
  expect(text).toMatch(/\nbeta \(3\) +6\.0 GiB +1\.0 GiB +512 MiB +512 MiB +- +-\n/);
});

it('tells of many nodes that were left out by their reasons', () => {
  const exclusions = Array.from({ length: 7 }, (_, at) => ({
    nodeId: BigInt(at + 4),
    nodeName: `n${at}`,
    reason: at === 3 ? 'lost' : 'not-chosen',
    message: `node "n${at}" is out`,
  }));
  const text = view({ ...pricedReport, exclusions });
  expect(text.slice(text.indexOf('not used:')).split('\n')).toEqual([
    'not used: 6 nodes, not-chosen: n0 (4), n1 (5), n2 (6), n4 (8) and 2 more',
    'not used: n3 (7), lost: node "n3" is out',
    'plan --explain-node NAME says more of each',
  ]);
});

it('says how tokens are chosen when that is not simply the likeliest', () => {
  const plan = { ...samplePlan, runtime: RuntimePlan.fromPartial({ sampling: { temperatureMillis: 700, topK: 40 } }) };
  const text = planView({ plan, settings: sampleSettings, report: sampleReport, nodes });
  expect(text).toContain('\nsampling: temperature 0.7, top 40\n');
});
