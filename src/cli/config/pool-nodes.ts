import {
  type Device,
  type EngineOffer,
  Node,
  NodeConditionType,
  StageFeature,
} from '../../../gen/stageplane/v1/node.js';
import { deviceKindOf } from '../../core/device-kind.js';
import { limits } from '../../core/limits.js';
import { isNodeName, nodeNameAdvice } from '../../core/node-name.js';
import { parseBytes } from '../../core/parse-bytes.js';
import { STAGE_FEATURES } from '../../core/protocols.js';
import { quoted } from '../../core/quoted.js';

export interface PoolProblem {
  /** From the list of nodes on. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

type Path = PoolProblem['path'];
type Report = (path: Path, message: string) => void;
type Fields = Readonly<Record<string, unknown>>;

interface DescribedNode {
  readonly name: string;
  readonly count: number;
  readonly cores: number;
  readonly devices: readonly Device[];
  readonly engines: readonly EngineOffer[];
  readonly labels: Record<string, string>;
}

const presentConditions = [
  NodeConditionType.NODE_CONDITION_TYPE_CONNECTED,
  NodeConditionType.NODE_CONDITION_TYPE_RECONCILED,
  NodeConditionType.NODE_CONDITION_TYPE_SCHEDULABLE,
];

/** A machine that is not there yet will run this version. */
const ownFeatures = STAGE_FEATURES.map((name) => StageFeature[name]);

/** Node ids start here; 1 is the orchestrator's. */
const FIRST_NODE_ID = 2n;

/** Makes nodes of what a file says, each as often as it says, or tells everything that is wrong, up to a bound. */
export function readPoolNodes(value: unknown): { nodes: Node[]; problems: PoolProblem[] } {
  const problems: PoolProblem[] = [];
  const report: Report = (path, message) => {
    if (problems.length < limits.violationsPerRejection) problems.push({ path, message });
  };
  const entries = listOf(value, [], 'nodes, such as [{name: alpha, devices: [{id: cpu, memory: 64GiB}]}]', report);
  const described = entries.flatMap((entry, index) => readNode(entry, [index], report) ?? []);
  const total = described.reduce((sum, { count }) => sum + count, 0);
  if (total > limits.poolFileNodes) {
    report([], `are ${total} with all copies; describe at most ${limits.poolFileNodes}`);
    return { nodes: [], problems };
  }
  const copies = described.flatMap((node) => copiesOf(node));
  const names = copies.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) report([], `have the name ${quoted(twice)} twice; give each node its own`);
  return { nodes: copies.map((node, index) => nodeOf(node, FIRST_NODE_ID + BigInt(index))), problems };
}

/** `alpha` of three copies is `alpha-1`, `alpha-2` and `alpha-3`. */
function copiesOf(node: DescribedNode): DescribedNode[] {
  if (node.count === 1) return [node];
  return Array.from({ length: node.count }, (_, index) => ({ ...node, name: `${node.name}-${index + 1}` }));
}

function nodeOf({ name, cores, devices, engines, labels }: DescribedNode, nodeId: bigint): Node {
  return Node.fromPartial({
    nodeId,
    name,
    conditions: presentConditions.map((type) => ({ type, met: true })),
    descriptor: { physicalCores: cores, devices: [...devices], labels },
    engines: [...engines],
  });
}

function readNode(value: unknown, path: Path, report: Report): DescribedNode | undefined {
  const fields = fieldsOf(value, path, ['name', 'devices', 'cores', 'count', 'labels', 'engines'], report);
  if (!fields) return undefined;
  const { name } = fields;
  if (typeof name !== 'string' || !isNodeName(name)) {
    report([...path, 'name'], `${quoted(name)} is no node name; ${nodeNameAdvice}`);
  }
  const entries = listOf(fields.devices, [...path, 'devices'], 'devices, such as [{id: cpu, memory: 64GiB}]', report);
  const devices = entries.flatMap((entry, index) => readDevice(entry, [...path, 'devices', index], report) ?? []);
  return {
    name: String(name),
    count: countOf(fields.count ?? 1, limits.poolFileNodes, [...path, 'count'], report),
    cores: fields.cores === undefined ? 0 : countOf(fields.cores, limits.coresPerNode, [...path, 'cores'], report),
    devices,
    engines: readEngines(fields.engines, devices, [...path, 'engines'], report),
    labels: readLabels(fields.labels ?? {}, [...path, 'labels'], report),
  };
}

function readDevice(value: unknown, path: Path, report: Report): Device | undefined {
  const fields = fieldsOf(value, path, ['id', 'name', 'memory', 'free'], report);
  if (!fields) return undefined;
  const deviceId = textOf(fields.id, [...path, 'id'], 'an id, such as cpu or cuda:0', report);
  const totalBytes = memoryOf(fields.memory, [...path, 'memory'], report);
  const freeBytes = fields.free === undefined ? totalBytes : memoryOf(fields.free, [...path, 'free'], report);
  if (freeBytes > totalBytes) report([...path, 'free'], 'is more than its memory; say at most that');
  const name = fields.name === undefined ? '' : textOf(fields.name, [...path, 'name'], 'a name', report);
  const kind = deviceKindOf(deviceId);
  return { deviceId, kind, name, totalBytes, freeBytes };
}

/** As the agent offers it when nobody says: engine "llama.cpp" computes in RAM. */
function readEngines(value: unknown, devices: readonly Device[], path: Path, report: Report): EngineOffer[] {
  const all = devices.map(({ deviceId }) => deviceId);
  if (value === undefined) {
    if (!all.includes('cpu')) {
      report(
        path,
        'is missing, and "llama.cpp" computes in RAM alone: add a device with id cpu, or say what computes here',
      );
    }
    return [{ name: 'llama.cpp', build: 'any', deviceIds: ['cpu'], features: ownFeatures }];
  }
  return listOf(value, path, 'engines, such as [{name: llama.cpp}]', report).flatMap((entry, index) => {
    const at = [...path, index];
    const fields = fieldsOf(entry, at, ['name', 'build', 'devices'], report);
    if (!fields) return [];
    const used = fields.devices === undefined ? all : listOf(fields.devices, [...at, 'devices'], 'device ids', report);
    const stranger = used.find((id) => !all.includes(id as string));
    if (stranger !== undefined) report([...at, 'devices'], `names ${quoted(stranger)}; name devices of this node`);
    const name = textOf(fields.name, [...at, 'name'], 'the name of an engine, such as llama.cpp', report);
    const build = fields.build === undefined ? 'any' : textOf(fields.build, [...at, 'build'], 'a build', report);
    return [{ name, build, deviceIds: used.map(String), features: ownFeatures }];
  });
}

function readLabels(value: unknown, path: Path, report: Report): Record<string, string> {
  if (!isMap(value)) {
    report(path, `${quoted(value)} is no map; write labels such as {zone: attic}`);
    return {};
  }
  const labels = Object.entries(value);
  if (labels.length > limits.labelsPerNode) report(path, `has ${labels.length}; keep at most ${limits.labelsPerNode}`);
  const nested = labels.find(([, label]) => typeof label === 'object');
  if (nested) report([...path, nested[0]], 'is no text; write a word or a number');
  return Object.fromEntries(labels.map(([key, label]) => [key, String(label)]));
}

function fieldsOf(value: unknown, path: Path, known: readonly string[], report: Report): Fields | undefined {
  if (!isMap(value)) {
    report(path, `${quoted(value)} is no map; write ${known.join(', ')} with their values`);
    return undefined;
  }
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) report([...path, key], `is unknown here; write one of ${known.join(', ')}`);
  }
  return value;
}

function listOf(value: unknown, path: Path, what: string, report: Report): readonly unknown[] {
  if (Array.isArray(value) && value.length > 0) return value;
  report(path, `${quoted(value)} is no list; list ${what}`);
  return [];
}

function textOf(value: unknown, path: Path, what: string, report: Report): string {
  if (typeof value === 'string' && value !== '' && value.length <= limits.nameBytes) return value;
  report(path, `${quoted(value)} is no text of 1 to ${limits.nameBytes} characters; write ${what}`);
  return '';
}

function countOf(value: unknown, most: number, path: Path, report: Report): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return value;
  report(path, `${quoted(value)} is no count; write a whole number from 1 to ${most}`);
  return 1;
}

function memoryOf(value: unknown, path: Path, report: Report): bigint {
  const bytes = typeof value === 'string' ? parseBytes(value) : undefined;
  if (bytes !== undefined && bytes > 0n) return bytes;
  report(path, `${quoted(value)} is no size; write one such as 24GB or 24GiB`);
  return 0n;
}

function isMap(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
