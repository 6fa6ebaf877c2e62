import type { ModelInspection } from '../../../gen/stageplane/v1/model.js';
import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import type { MemoryBreakdown, RingDefaults } from '../../../gen/stageplane/v1/planner.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { deviceKindOf } from '../device-kind.js';
import { type MemoryModel, memoryModel, type NoMemoryModel } from '../model/memory-model.js';
import { type NodeBudget, nodeBudget } from '../model/node-budget.js';
import type { Ledger } from '../model/stage-footprint.js';
import type { PoolDevice, PoolNode } from './pool-node.js';

/** What a request lets the planner know of memory. */
export interface PricingFacts {
  readonly inspection: ModelInspection | undefined;
  readonly rings: RingDefaults | undefined;
  /** What earlier runs measured of stages with such settings. */
  readonly ledger?: ((settings: StageSettings) => Ledger) | undefined;
}

/** What the stages of a model need with these settings, or why nobody can say. */
export function priceModel(facts: PricingFacts, settings: StageSettings): MemoryModel | NoMemoryModel {
  const { inspection, rings, ledger } = facts;
  if (!inspection) {
    const message = 'the memory of the model is unknown: its file was not read here; place its stages yourself';
    return { kind: 'unknown', message };
  }
  return memoryModel(inspection, settings, {
    deviceKind: deviceKindOf(settings.device),
    rings,
    ledger: ledger?.(settings),
  });
}

/** The device that a stage with these settings would be on. */
export function deviceOf(node: PoolNode, { device }: StageSettings): PoolDevice | undefined {
  return node.devices.find(({ deviceId }) => deviceId === device);
}

/** What a node can still give to stages with these settings (I7). */
export function budgetOf(node: PoolNode, settings: StageSettings, headroomMillis?: number): NodeBudget {
  const unknown = { deviceId: settings.device, totalBytes: 0n, freeBytes: undefined, stages: [] };
  const device = deviceOf(node, settings) ?? unknown;
  return nodeBudget(node.name, device, device.stages, { headroomMillis });
}

/** Each stage of a plan, part by part. */
export function breakdownOf(model: MemoryModel, stages: RunPlan['stages']): MemoryBreakdown[] {
  return stages.map(({ stageIndex, nodeId, layerStart, layerEndExclusive }) =>
    model.stage(layerStart, layerEndExclusive, { stageIndex, nodeId }),
  );
}

/** Bytes that a plan promises each of its stages; 0 where nobody can say. */
export function reservationsOf(model: MemoryModel | NoMemoryModel, stages: RunPlan['stages']): bigint[] {
  return stages.map(({ layerStart, layerEndExclusive }) =>
    model.kind === 'unknown' ? 0n : BigInt(Math.ceil(model.bytes(layerStart, layerEndExclusive))),
  );
}
