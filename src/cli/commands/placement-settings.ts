import { limits } from '../../core/limits.js';
import { readLayerCaps, readNodeNames, readPlacement } from '../config/placement-readers.js';
import { readCount, readOneOf, readPercent, readSeconds } from '../config/readers.js';
import { list, optional, toggle, type Values } from '../config/setting.js';
import { flagOf } from '../config/setting-names.js';
import type { Violation } from '../failure.js';

/** What may be asked of a placement that the orchestrator chooses. */
export const placementSettings = {
  objective: optional(readOneOf('fastest', 'throughput', 'fewest-nodes', 'balanced'), {
    placeholder: '<aim>',
    description:
      'fastest: one conversation; throughput: many; fewest-nodes; balanced: least full devices; default: fastest',
  }),
  minStages: optional(readCount(1, limits.stagesPerRequest), {
    placeholder: '<count>',
    description: 'stages at least; default: 1',
  }),
  maxStages: optional(readCount(1, limits.stagesPerRequest), {
    placeholder: '<count>',
    description: 'stages at most; default: one per node',
  }),
  headroom: optional(readPercent, {
    placeholder: '<percent>',
    description: `memory of each device to leave free; default: ${limits.defaultHeadroomMillis / 10}`,
  }),
  maxSecondsPerToken: optional(readSeconds, {
    placeholder: '<seconds>',
    description: 'how long one token may take by estimate, such as 0.25; default: any time',
  }),
  allowKvQuantisation: toggle('store keys and values in fewer bits when they do not fit otherwise'),
  maxLayers: list(readLayerCaps, {
    placeholder: '<node=layers,...>',
    description:
      'layers at most on a node, or with label:key=value:layers on each node with that label; the least holds',
  }),
  exclude: list(readNodeNames, {
    placeholder: '<node,...>',
    description: 'nodes to leave out, by name or id',
  }),
  pin: list(readPlacement, {
    placeholder: '<stage=node,...>',
    description: 'node that a stage must be on; the orchestrator places the others',
  }),
};

export type PlacementValues = Values<typeof placementSettings>;

interface Given extends Partial<PlacementValues> {
  readonly stages?: number | undefined;
  readonly place?: unknown;
  readonly layers?: unknown;
}

/** What was asked of an automatic placement makes no sense beside a given one, or contradicts itself. */
export function checkAutomatic(values: Given): readonly Violation[] {
  const given = values.place ? '--place' : values.layers ? '--layers' : undefined;
  if (given) {
    const message = `cannot be combined with ${given}: the one bounds what the orchestrator chooses, the other chooses; leave out one of them`;
    return askedFor(values).map((field) => ({ field, message }));
  }
  return [...checkBounds(values), ...checkPins(values.pin?.flat() ?? [])];
}

/** The flags of an automatic placement that were given. */
function askedFor(values: Given): string[] {
  const keys = Object.keys(placementSettings) as (keyof PlacementValues)[];
  return keys.filter((key) => isAsked(values[key])).map(flagOf);
}

function isAsked(value: PlacementValues[keyof PlacementValues] | undefined): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

function checkBounds({ stages, minStages, maxStages }: Given): readonly Violation[] {
  const message = 'cannot be combined with --stages, which is both bounds at once; leave out one of them';
  const bounds = [
    { field: '--min-stages', bound: minStages },
    { field: '--max-stages', bound: maxStages },
  ];
  if (stages !== undefined) {
    return bounds.filter(({ bound }) => bound !== undefined).map(({ field }) => ({ field, message }));
  }
  if (minStages === undefined || maxStages === undefined || minStages <= maxStages) return [];
  return [{ field: '--min-stages', message: `${minStages} is more than --max-stages, ${maxStages}` }];
}

function checkPins(pins: readonly { readonly stage: number }[]): readonly Violation[] {
  const twice = pins.find(({ stage }, at) => pins.findIndex((other) => other.stage === stage) !== at);
  return twice ? [{ field: '--pin', message: `names stage ${twice.stage} twice; give each stage one node` }] : [];
}
