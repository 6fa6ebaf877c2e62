import type { LayerTable, ModelFacts, ModelInspection } from '../../../gen/stageplane/v1/model.js';
import { DeviceKind } from '../../../gen/stageplane/v1/node.js';
import type { MemoryBreakdown, RingDefaults } from '../../../gen/stageplane/v1/planner.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { limits } from '../limits.js';
import { computeBytes, logitsBytes } from './compute-buffers.js';
import { type EdgeRings, edgeRings } from './edge-rings.js';
import { type EngineMemory, engineMemory } from './engine-memory.js';
import { kvCacheBytes } from './kv-cache.js';
import { memoryBreakdown } from './memory-breakdown.js';
import { readPerToken } from './read-per-token.js';
import type { StageBytes } from './stage-bytes.js';
import type { Ledger } from './stage-footprint.js';

const F32_BYTES = 4;

export interface MemoryOptions {
  /** Of the device that the stages are on. Default: RAM. */
  readonly deviceKind?: DeviceKind | undefined;
  /** What the request asks of the rings. */
  readonly rings?: RingDefaults | undefined;
  readonly ledger?: Ledger | undefined;
}

/**
 * What the stages of a model need. The first stage is the one that starts at layer 0, the last one ends at `numLayers`.
 * Ranges `[start, end)` must be within the model and not empty.
 */
export interface MemoryModel {
  readonly kind: 'memory-model';
  readonly numLayers: number;
  /** Bytes on the device, total. Takes no longer for more layers. */
  bytes(start: number, end: number): number;
  parts(start: number, end: number): StageBytes;
  /** The same with its sources, for a report. */
  stage(start: number, end: number, place: { stageIndex: number; nodeId: bigint }): MemoryBreakdown;
  /** Bytes of weights that one token makes a stage read: of experts only those that compute it. */
  readPerToken(start: number, end: number): number;
}

export interface NoMemoryModel {
  readonly kind: 'unknown';
  /** One sentence that names the model and what to do next. */
  readonly message: string;
}

/**
 * Prepares the sums over a model's layers: one per set of settings and kind of device. `settings` are resolved ones. Weights
 * and KV cache are exact; compute buffers and overhead are estimates. Above 2^53 bytes numbers round: no device is that
 * large.
 */
export function memoryModel(
  inspection: ModelInspection,
  settings: StageSettings,
  options: MemoryOptions = {},
): MemoryModel | NoMemoryModel {
  const { facts, layers } = inspection;
  const unknown = whyUnknown(inspection);
  if (unknown !== undefined || !facts || !layers) return { kind: 'unknown', message: unknown ?? 'there is no model' };
  const { bytes, parts } = stageSums({ inspection, facts, layers, settings, options });
  return {
    kind: 'memory-model',
    numLayers: facts.numLayers,
    bytes,
    parts,
    stage: (start, end, place) => memoryBreakdown(parts(start, end), place),
    readPerToken: readPerToken(inspection, layers),
  };
}

/** Why nobody can say what a model needs; undefined when the header says enough. */
function whyUnknown({ facts, layers, attention, architecture, recurrent }: ModelInspection): string | undefined {
  const name = facts?.modelId || 'the model';
  if (recurrent) {
    return `the memory of ${name} is unknown: layers of architecture ${architecture} keep a recurrent state; place its stages yourself`;
  }
  if (!facts || layers?.layers.length !== facts.numLayers) {
    return `the memory of ${name} is unknown: its layers' tensors were not read; name the model's own file`;
  }
  if (attention.length !== facts.numLayers) {
    return `the memory of ${name} is unknown: its file does not say ${architecture}.attention.head_count; place its stages yourself`;
  }
  return undefined;
}

interface Prepared {
  readonly inspection: ModelInspection;
  readonly facts: ModelFacts;
  readonly layers: LayerTable;
  readonly settings: StageSettings;
  readonly options: MemoryOptions;
}

function stageSums(prepared: Prepared): Pick<MemoryModel, 'bytes' | 'parts'> {
  const { inspection, facts, layers, settings, options } = prepared;
  const weightsBefore = prefixSums(layers.layers.map(({ sizeBytes }) => Number(sizeBytes)));
  const cacheBefore = prefixSums(kvCacheBytes(inspection.attention, settings, engineMemory(settings.engine)));
  const compute = computeBytes(inspection, settings, engineMemory(settings.engine));
  const besides = [false, true].map((isFirst) =>
    [false, true].map((isLast) => beside(prepared, compute, isFirst, isLast)),
  );
  const besideOf = (start: number, end: number) => besides[Number(start === 0)]![Number(end === facts.numLayers)]!;
  const measured = (start: number, end: number) => options.ledger?.(start, end)?.deviceBytes;

  return {
    bytes: (start, end) => {
      const { exact, estimated } = besideOf(start, end);
      const ofLayers = weightsBefore[end]! - weightsBefore[start]! + cacheBefore[end]! - cacheBefore[start]!;
      return credible(measured(start, end), ofLayers + exact, estimated) ?? ofLayers + exact + estimated;
    },
    parts: (start, end) => {
      const { held } = besideOf(start, end);
      const weights = held.weights + weightsBefore[end]! - weightsBefore[start]!;
      const kvCache = cacheBefore[end]! - cacheBefore[start]!;
      return reconciled({ ...held, weights, kvCache }, measured(start, end));
    },
  };
}

type Held = Omit<StageBytes, 'total' | 'measured'>;

/** What a stage holds beside its own layers, which depends only on where it stands. */
function beside(
  { inspection, facts, layers, settings, options }: Prepared,
  compute: number,
  isFirst: boolean,
  isLast: boolean,
) {
  const ringBytes = ringsOf(edgeRings(facts, settings, options.rings), isFirst, isLast);
  const isAccelerator = options.deviceKind === DeviceKind.DEVICE_KIND_GPU;
  const held: Held = {
    weights: Number(layers.globalBytes),
    kvCache: 0,
    ...endsBytes(inspection, layers, engineMemory(settings.engine), isFirst, isLast),
    compute: compute + (isLast ? logitsBytes(inspection, settings) : 0),
    rings: isAccelerator ? 0 : ringBytes,
    overhead: isAccelerator ? limits.acceleratorOverheadBytes : limits.processOverheadBytes,
    host: isAccelerator ? ringBytes + limits.processOverheadBytes : 0,
  };
  return { held, exact: exactBytes(held), estimated: held.compute + held.overhead };
}

/** A tied head is the embedding again; a stage that is both first and last holds it once. */
function endsBytes(
  { facts }: ModelInspection,
  layers: LayerTable,
  engine: EngineMemory,
  isFirst: boolean,
  isLast: boolean,
) {
  const table = Number(layers.embeddingBytes);
  const isAlone = isFirst && isLast;
  const standIn = engine.headStandInRows * Number(facts!.hiddenDim) * F32_BYTES;
  const tiedCopy = isLast && layers.tied && !isAlone ? table : 0;
  return {
    // A stage that is the whole model is loaded as it is, its table included.
    embedding: isFirst && (isAlone || !engine.embeddingStaysInFile) ? table : 0,
    head: isLast ? Number(layers.headBytes) + tiedCopy : standIn,
  };
}

function ringsOf({ activation, token }: EdgeRings, isFirst: boolean, isLast: boolean): number {
  return (isFirst ? token : activation) + (isLast ? token : activation);
}

function exactBytes({ weights, kvCache, embedding, head, rings }: Held): number {
  return weights + kvCache + embedding + head + rings;
}

/**
 * A measurement of less than what is exact has missed something, such as mapped pages; one far above what was estimated is
 * a lie or an accident, and would keep the stage from ever being placed and measured again: undefined.
 */
function credible(measuredBytes: number | undefined, exact: number, estimated: number): number | undefined {
  if (measuredBytes === undefined || measuredBytes < exact) return undefined;
  return measuredBytes <= limits.measuredPerEstimate * (exact + estimated) ? measuredBytes : undefined;
}

/** What was measured decides what the estimates are. */
function reconciled(held: Held, measuredBytes: number | undefined): StageBytes {
  const exact = exactBytes(held);
  const estimated = held.compute + held.overhead;
  const total = credible(measuredBytes, exact, estimated);
  if (total === undefined) return { ...held, total: exact + estimated, measured: false };
  return { ...held, compute: total - exact, overhead: 0, total, measured: true };
}

function prefixSums(values: readonly number[]): number[] {
  const sums = [0];
  for (const value of values) sums.push(sums.at(-1)! + value);
  return sums;
}
