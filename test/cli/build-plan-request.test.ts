import { describe, expect, it } from 'vitest';
import { PlacementObjective as Objective } from '../../gen/stageplane/v1/planner.js';
import { buildPlanRequest, namesNodes, type PlanValuesOnly } from '../../src/cli/build-plan-request.js';
import { modelOperand, planSettings } from '../../src/cli/commands/plan-settings.js';
import { resolveOperands, resolveSettings } from '../../src/cli/config/resolve-settings.js';
import { alpha, beta, sampleNode } from './sample.js';

const attic = [sampleNode(4n, 'gamma'), sampleNode(5n, 'delta')].map((node) => ({
  ...node,
  descriptor: { ...node.descriptor!, labels: { room: 'attic' } },
}));
const nodes = [alpha, beta, ...attic];

function valuesOf(flags: Readonly<Record<string, unknown>>): PlanValuesOnly {
  const { values } = resolveSettings(planSettings, flags, {});
  return { ...values, ...resolveOperands(modelOperand, ['m.gguf']).values } as PlanValuesOnly;
}

const build = (flags: Readonly<Record<string, unknown>>) => buildPlanRequest(valuesOf(flags), nodes);

describe('an automatic placement', () => {
  it('is asked for when nobody is placed, with nothing but defaults', () => {
    expect(build({ stages: '3' })).toMatchObject({
      request: {
        stageCount: 3,
        placement: {
          $case: 'automatic',
          value: {
            objective: Objective.PLACEMENT_OBJECTIVE_UNSPECIFIED,
            constraints: { minStages: undefined, headroomMillis: undefined, allowKvQuantisation: false, layerCaps: [] },
          },
        },
      },
    });
    expect(build({ place: '0=alpha' })).toMatchObject({ request: { placement: { $case: 'fixedLinear' } } });
  });

  it('keeps to every flag, with names as ids and units as on the wire', () => {
    const built = build({
      objective: 'fewest-nodes',
      minStages: '2',
      maxStages: '4',
      headroom: '12.5',
      maxSecondsPerToken: '0.25',
      allowKvQuantisation: true,
      maxLayers: ['alpha=12,label:room=attic:4', '5=9'],
      exclude: ['beta', '3,gamma'],
      pin: ['0=alpha', '2=delta'],
    });
    expect(built).toMatchObject({
      request: {
        stageCount: 0,
        placement: {
          value: {
            objective: Objective.PLACEMENT_OBJECTIVE_FEWEST_NODES,
            constraints: {
              minStages: 2,
              maxStages: 4,
              headroomMillis: 125,
              maxMicrosecondsPerToken: 250_000n,
              allowKvQuantisation: true,
              layerCaps: [
                { nodeId: 2n, maxLayers: 12 },
                { nodeId: 4n, maxLayers: 4 },
                { nodeId: 5n, maxLayers: 4 },
              ],
              excludedNodeIds: [3n, 4n],
              pins: [
                { stageIndex: 0, nodeId: 2n },
                { stageIndex: 2, nodeId: 5n },
              ],
            },
          },
        },
      },
    });
  });

  it('is refused when it names nodes or labels that there are not, all at once', () => {
    const built = build({ exclude: ['alhpa'], pin: ['1=bta'], maxLayers: ['label:room=cellar:2,gmma=1'] });
    expect(built.kind === 'refused' && built.problems).toEqual([
      { field: '--max-layers', message: expect.stringMatching(/^no node has the label room=cellar; /) },
      { field: '--max-layers', message: expect.stringMatching(/^there is no node "gmma"; the known nodes are alpha/) },
      { field: '--exclude', message: expect.stringMatching(/^there is no node "alhpa"; the known nodes are alpha/) },
      { field: '--pin', message: expect.stringMatching(/^there is no node "bta"; the known nodes are alpha/) },
    ]);
  });
});

it('needs the nodes only when one is named', () => {
  const plain: Readonly<Record<string, unknown>>[] = [{}, { stages: '2' }, { headroom: '5', objective: 'balanced' }];
  expect(plain.map((flags) => namesNodes(valuesOf(flags)))).toEqual([false, false, false]);
  const named = [{ place: '0=a' }, { maxLayers: ['a=1'] }, { exclude: ['a'] }, { pin: ['0=a'] }];
  expect(named.map((flags) => namesNodes(valuesOf(flags)))).toEqual([true, true, true, true]);
});
