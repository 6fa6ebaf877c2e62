import type { DeviceKind, EngineOffer } from '../../../gen/stageplane/v1/node.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { chooseAmong } from '../choose-among.js';
import type { NodeId } from '../ids.js';
import type { CommittedStage, MeasuredDevice } from '../model/node-budget.js';
import { isThreaded } from './engine-traits.js';
import { coresObstacle, type ThreadReservation } from './free-cores.js';

/** A node as the planner sees it. */
export interface PoolNode {
  readonly nodeId: NodeId;
  readonly name: string;
  readonly engines: readonly EngineOffer[];
  /** 0 is unknown. */
  readonly physicalCores: number;
  /** Of live stages, by ascending run. */
  readonly reservedThreads: readonly ThreadReservation[];
  /** As the node told of them; none is unknown. */
  readonly devices: readonly PoolDevice[];
  /** As its agent was started with. */
  readonly labels: Readonly<Record<string, string>>;
  /** Why it takes no new stage (I14); absent when it does. */
  readonly obstacle?: NodeObstacle;
}

/** A device of a node, and what live stages were promised on it. */
export interface PoolDevice extends MeasuredDevice {
  readonly kind: DeviceKind;
  /** Of the product, such as "NVIDIA GeForce RTX 4090". */
  readonly name: string;
  readonly stages: readonly CommittedStage[];
}

export interface NodeObstacle {
  readonly reason:
    | 'cordoned'
    | 'draining'
    | 'lost'
    | 'not-connected'
    | 'full'
    | 'no-engine'
    | 'no-device'
    | 'no-cores'
    /** Of an automatic placement alone. */
    | 'excluded'
    | 'unknown-memory'
    | 'other-build';
  /** One sentence that names the node and what to do next. */
  readonly message: string;
}

/** For looking up the nodes of a plan. */
export function nodesById(pool: readonly PoolNode[]): ReadonlyMap<bigint, PoolNode> {
  return new Map<bigint, PoolNode>(pool.map((node) => [node.nodeId, node]));
}

/** Why a node takes no stage with these settings, or undefined when it does. */
export function obstacleFor(node: PoolNode, settings: StageSettings | undefined): NodeObstacle | undefined {
  if (node.obstacle || !settings) return node.obstacle;
  const { engine, device } = settings;
  const offer = node.engines.find(({ name }) => name === engine);
  if (!offer) {
    const offered = chooseAmong(node.engines.map(({ name }) => name));
    const message = `node "${node.name}" has no engine "${engine}", ${offered}`;
    return { reason: 'no-engine', message };
  }
  if (!offer.deviceIds.includes(device)) {
    const usable = chooseAmong(offer.deviceIds);
    const message = `engine "${engine}" of node "${node.name}" cannot use device "${device}", ${usable}`;
    return { reason: 'no-device', message };
  }
  const cores = isThreaded(engine) ? coresObstacle(node, 1, settings.threads || 1) : undefined;
  return cores === undefined ? undefined : { reason: 'no-cores', message: cores };
}
