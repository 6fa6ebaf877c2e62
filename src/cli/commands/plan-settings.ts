import { limits } from '../../core/limits.js';
import { readLayerRanges, readPlacement, type StageLayers, type StageNode } from '../config/placement-readers.js';
import { readCount, readOneOf, readText } from '../config/readers.js';
import { operand, optional, toggle } from '../config/setting.js';
import type { Violation } from '../failure.js';
import { checkAutomatic, type PlacementValues, placementSettings } from './placement-settings.js';
import { samplingSettings } from './sampling-settings.js';

/** What `plan` and `run` both take. */
export const planSettings = {
  stages: optional(readCount(1, limits.stagesPerRequest), {
    placeholder: '<count>',
    description: 'stages to split the model into; default: one per placed node, else as many as are best',
  }),
  place: optional(readPlacement, {
    placeholder: '<stage=node,...>',
    description: 'node of each stage, by name or id; default: what the orchestrator finds best',
  }),
  layers: optional(readLayerRanges, {
    placeholder: '<stage=first-end,...>',
    description: 'layers of each stage, the end not included; default: spread evenly; needs --place',
  }),
  ...placementSettings,
  context: optional(readCount(1), {
    placeholder: '<tokens>',
    description: `tokens of one conversation; default: the smaller of ${limits.defaultContextTokens} and the model's own`,
  }),
  engine: optional(readText, {
    placeholder: '<name>',
    description: 'stage engine; default: llama.cpp where every node has it and it can run the model, else fixture',
  }),
  threads: optional(readCount(1, limits.threadsPerStage), {
    placeholder: '<count>',
    description: "CPU threads of each stage; default for llama.cpp: the node's free cores, shared by its stages",
  }),
  microBatch: optional(readCount(1, limits.microBatchRows), {
    placeholder: '<rows>',
    description: `rows of one step at most; default: ${limits.defaultMicroBatchRows}`,
  }),
  sessions: optional(readCount(1, limits.sessionsPerStage), {
    placeholder: '<count>',
    description: 'conversations held at once; default: 1',
  }),
  fidelity: optional(readOneOf('fast', 'exact'), {
    placeholder: '<kind>',
    description: "fast: each node at its best; exact: bit for bit the whole model's text; default: fast",
  }),
  kvCacheType: optional(readOneOf('f16', 'q8_0', 'q4_0'), {
    placeholder: '<type>',
    description: 'how keys and values are stored: f16, q8_0 or q4_0; default: f16',
  }),
  flashAttention: toggle('compute attention in one fused step; default: off'),
  maxTokens: optional(readCount(1), {
    placeholder: '<count>',
    description: 'tokens of an answer at most',
  }),
  ...samplingSettings,
};

export const modelOperand = {
  file: operand(readText, {
    placeholder: '<file>',
    description: "model; a path that does not exist here is sent as it is, for the orchestrator's own disk",
  }),
};

interface GivenPlacement {
  readonly stages?: number | undefined;
  readonly place?: readonly StageNode[] | undefined;
  readonly layers?: readonly StageLayers[] | undefined;
}

/** What is wrong with what was asked of a placement, given or automatic. */
export function checkPlacement(values: GivenPlacement & Partial<PlacementValues>): readonly Violation[] {
  return [...checkGiven(values), ...checkAutomatic(values)];
}

/** A placement, once given, names the node of every stage, and layers need a node. */
function checkGiven(values: GivenPlacement): readonly Violation[] {
  const placed = new Set(values.place?.map(({ stage }) => stage));
  const unplaced = values.place ? firstUnplaced(placed, values.stages ?? 0) : undefined;
  if (unplaced !== undefined) {
    const message = `stage ${unplaced} of the ${values.stages} has no node; name its node, or lower --stages`;
    return [{ field: '--place', message }];
  }
  if (!values.layers) return [];
  const homeless = values.layers.find(({ stage }) => !placed.has(stage));
  const bare = values.place?.find(({ stage }) => !values.layers?.some((range) => range.stage === stage));
  if (homeless) {
    return [
      { field: '--layers', message: `stage ${homeless.stage} has layers but no node; name its node with --place` },
    ];
  }
  if (bare)
    return [
      { field: '--layers', message: `stage ${bare.stage} has a node but no layers; give every stage its layers` },
    ];
  return [];
}

function firstUnplaced(placed: ReadonlySet<number>, stages: number): number | undefined {
  for (let stage = 0; stage < stages; stage++) if (!placed.has(stage)) return stage;
  return undefined;
}
