import { expect, it } from 'vitest';
import { PlanReport } from '../../../gen/stageplane/v1/planner.js';
import { explainNode } from '../../../src/cli/explain-node.js';
import { nodeExplanation, nodeExplanationDocument } from '../../../src/cli/format/node-explanation.js';
import { alpha, beta, pricedReport, sampleNode, sampleSettings } from '../sample.js';

/** A stage that has not loaded yet, and one on a device that is not the one in question. */
const live = [
  { deviceId: 'cpu', reservedBytes: 1n << 30n, residentBytes: 0n },
  { deviceId: 'cuda:0', reservedBytes: 8n << 30n, residentBytes: 0n },
];
const priced = { report: pricedReport, settings: sampleSettings, live, headroomMillis: undefined };

it('says of a node that is used which stage it has, part by part, and how much of it that is', () => {
  const text = nodeExplanation(explainNode({ ...priced, node: alpha }));
  expect(text.split('\n')).toEqual([
    'node: alpha (2), schedulable',
    'used: stage 0 with layers [0, 3) on cpu, ~6.0 GiB: 79% of the 7.5 GiB that a plan may use, 38% of',
    '      its 16.0 GiB',
    '',
    'STAGE 0 TAKES     BYTES  HOW KNOWN',
    'weights        ~4.0 GiB  computed',
    'KV cache       ~1.0 GiB  computed',
    'compute        ~256 MiB  computed',
    'embedding      ~512 MiB  computed',
    '    with the output head, which shares its bytes',
    'rings          ~128 MiB  computed',
    'overhead       ~128 MiB  computed',
    'total          ~6.0 GiB  computed',
    '',
    'DEVICE  KIND     TOTAL      FREE  RESERVED   USABLE',
    // 12 GiB free, 1 GiB of that promised, 0.25 GiB of reserve, 20 % of 16 GiB of headroom.
    'cpu     CPU   16.0 GiB  12.0 GiB   1.0 GiB  7.5 GiB',
    '',
    'CANDIDATE        STATUS              STAGE HERE  BYTES HERE',
    'single-node      infeasible          -                    -',
    '    stage 0 needs 12.0 GiB (12884901888 bytes), node "alpha" can give 8.5 GiB: 3.5 GiB too little on',
    '    device "cpu"',
    'balance-by-vram  selected            0             ~6.0 GiB',
    'even-split       rejected_dominated  1             ~5.0 GiB',
    '    no better than balance-by-vram',
  ]);
});

it('counts with the headroom that was asked for, and repeats the warnings about the node', () => {
  const text = nodeExplanation(explainNode({ ...priced, node: beta, live: [], headroomMillis: 0 }));
  expect(text).toContain('on cpu, 8.0 GiB: 68% of the 11.8 GiB that a plan may use, 50% of\n');
  expect(text).toContain(
    '\nwarning: stage 1 takes 91 % of what node "beta" can give: a longer context would not fit\n',
  );
  expect(text).toMatch(/\ntotal +8\.0 GiB {2}measured\n/);
});

it('says of a node that is not used why', () => {
  const gamma = sampleNode(4n, 'gamma');
  const text = nodeExplanation(explainNode({ ...priced, node: gamma }));
  expect(text.split('\n').slice(0, 3)).toEqual([
    'node:     gamma (4), schedulable',
    'not used: cordoned: node "gamma" is cordoned',
    '',
  ]);
  expect(text).toMatch(/\nbalance-by-vram +selected +- +-\n/);
});

it('repeats the hint of a rejected plan when it is about the node', () => {
  const report = PlanReport.fromPartial({
    exclusions: [{ nodeId: 2n, nodeName: 'alpha', reason: 'not-chosen', message: 'node "alpha" is free' }],
    noValidPlanHint: { text: 'there would be a plan: give node "alpha" 1.0 GiB more', nodeId: 2n },
  });
  const explained = { ...priced, report, settings: [] };
  const hint = 'hint:     there would be a plan: give node "alpha" 1.0 GiB more\n';
  expect(nodeExplanation(explainNode({ ...explained, node: alpha }))).toContain(`\n${hint}`);
  expect(nodeExplanation(explainNode({ ...explained, node: beta }))).not.toContain('hint');
});

it('says nothing that could steer a terminal', () => {
  const node = sampleNode(2n, 'evil\u001b[2J');
  const text = nodeExplanation(explainNode({ ...priced, node }));
  expect(text).toContain('evil\\x1b[2J (2)');
  expect(text).not.toMatch(/[^\P{Cc}\n]/u);
});

it('is the same as a document, with the messages of the wire', () => {
  const document = nodeExplanationDocument(explainNode({ ...priced, node: alpha }));
  expect(JSON.parse(JSON.stringify(document))).toMatchObject({
    nodeId: '2',
    state: 'schedulable',
    used: [
      { stageIndex: 0, layerStart: 0, layerEndExclusive: 3, deviceId: 'cpu', memory: { weights: { unit: 'bytes' } } },
    ],
    devices: [{ deviceId: 'cpu', totalBytes: String(16n << 30n), reservedBytes: String(1n << 30n) }],
    candidates: [
      { status: 'CANDIDATE_STATUS_INFEASIBLE' },
      { stages: [{ nodeId: '2' }] },
      { stages: [{ stageIndex: 1 }] },
    ],
    warnings: [],
  });
});
