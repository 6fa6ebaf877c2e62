import { RunMode } from '../../gen/stageplane/v1/planner.js';
import { type NodeId, nodeId, runId } from '../../src/core/ids.js';
import { FaultyAgent, faultyKinds } from './faulty-agent.js';
import type { Machine } from './machine.js';
import type { Random } from './random.js';
import { runRequest } from './requests.js';
import type { Simulation } from './simulation.js';

/** One thing that somebody or something does to the system. `a`, `b`, `c` are in [0, 1) and choose among what is there. */
export interface Action {
  readonly at: number;
  readonly verb: keyof typeof verbs;
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

type Verb = { readonly weight: number; readonly act: (sim: Simulation, action: Action) => void };

/** Everything that operators, machines and networks do. A verb more is an entry more. */
export const verbs = {
  // --- launchers and operators
  create: { weight: 14, act: (sim, { a, b, c }) => createRun(sim, `request-${++sim.created}`, a, b, c) },
  'create again': {
    weight: 3,
    act: (sim, { a, b, c }) => createRun(sim, `request-${1 + Math.floor(a * sim.created)}`, b, b, c),
  },
  'repeat a request': { weight: 2, act: (sim, { a }) => repeatRequest(sim, a) },
  stop: { weight: 6, act: (sim, { a }) => onRun(sim, a, 'run-stop-requested') },
  'stop while streams break': { weight: 2, act: (sim, { a, b }) => stopWhileStreamsBreak(sim, a, b) },
  delete: { weight: 4, act: (sim, { a }) => onRun(sim, a, 'run-delete-requested') },
  cordon: { weight: 2, act: (sim, { a }) => cordon(sim, a, true) },
  uncordon: { weight: 2, act: (sim, { a }) => cordon(sim, a, false) },
  drain: { weight: 2, act: (sim, { a, b }) => drain(sim, a, b) },
  'drain under a run that may move': { weight: 3, act: (sim, { a, b, c }) => drainUnderRun(sim, a, b, c) },
  'delete node': { weight: 2, act: (sim, { a, b }) => deleteNode(sim, a, b) },
  'delete node that is cut off': { weight: 1, act: (sim, { a, b }) => deleteCutOff(sim, machineAt(sim, a), b) },

  // --- the orchestrator
  'kill orchestrator': { weight: 2, act: (sim) => sim.orchestrator.kill() },
  'kill orchestrator while it performs': {
    weight: 1,
    act: (sim, { a }) => sim.orchestrator.killAfterSends(Math.floor(a * 12)),
  },
  'kill orchestrator after its commit': { weight: 1, act: (sim) => sim.store.fail('killed-after') },
  'stall orchestrator': { weight: 1, act: (sim, { a }) => stallOrchestrator(sim, a) },
  'fill disk': {
    weight: 1,
    act: (sim, { a }) => sim.store.fail(...Array.from({ length: 1 + Math.floor(a * 6) }, () => 'disk-full' as const)),
  },
  'lose answer of commit': { weight: 1, act: (sim) => sim.store.fail('answer-lost') },
  'lose commit': { weight: 1, act: (sim) => sim.store.fail('write-lost') },
  'set the wall clock in a drain': { weight: 2, act: (sim, { a, b, c }) => setClockInDrain(sim, a, b, c) },
  'make a backup': { weight: 2, act: (sim) => void (sim.orchestrator.world && sim.store.makeBackup()) },
  'put the backup back': { weight: 1, act: (sim) => putBack(sim) },
  'crash endpoint': { weight: 2, act: (sim) => sim.orchestrator.endpoints?.crash() },

  // --- agents and their machines
  'kill agent': { weight: 4, act: (sim, { a, b }) => killAgent(sim, machineAt(sim, a), b) },
  'leave in good order': { weight: 1, act: (sim, { a, b }) => leave(sim, machineAt(sim, a), b) },
  suspend: { weight: 2, act: (sim, { a, b }) => suspend(sim, machineAt(sim, a), 1000 + b ** 2 * 250_000) },
  'power off': { weight: 1, act: (sim, { a, b }) => powerOff(sim, machineAt(sim, a), 2000 + b ** 2 * 200_000) },
  'break identity disk': { weight: 1, act: (sim, { a, b }) => breakDisk(sim, machineAt(sim, a), b) },
  'wipe disk': { weight: 1, act: (sim, { a, b }) => wipeDisk(sim, machineAt(sim, a), b) },
  'start clone': { weight: 1, act: (sim, { a, b }) => startClone(sim, a, b) },
  'turn faulty': { weight: 4, act: (sim, { a, b }) => turnFaulty(sim, machineAt(sim, a), b) },
  'crash worker': { weight: 3, act: (sim, { a, b }) => pickWorker(sim, a, b)?.crash() },
  'hang worker': { weight: 2, act: (sim, { a, b }) => pickWorker(sim, a, b)?.hang() },

  // --- the network
  'reset streams': { weight: 4, act: (sim, { a }) => machineAt(sim, a)?.wire.reset() },
  partition: { weight: 3, act: (sim, { a, b, c }) => partition(sim, [machineAt(sim, a)], b, c) },
  'cut off until lost': { weight: 3, act: (sim, { a, b }) => cutOffUntilLost(sim, busyMachineAt(sim, a), b) },
  'mass loss': { weight: 1, act: (sim, { a, b }) => massLoss(sim, a, b) },
} satisfies Record<string, Verb>;

const names = Object.keys(verbs) as (keyof typeof verbs)[];
const lots = names.flatMap((name) => Array.from({ length: verbs[name].weight }, () => name));

/** What is done in a run, decided before it begins: so any part of it can be left out. */
export function drawActions(random: Random, count: number, until: number): Action[] {
  const action = (): Action => ({
    at: Math.floor(random.next() * until),
    verb: random.pick(lots),
    a: random.next(),
    b: random.next(),
    c: random.next(),
  });
  return Array.from({ length: count }, action).sort((x, y) => x.at - y.at);
}

export function perform(sim: Simulation, action: Action): void {
  sim.trace(() => `--- ${action.verb}`);
  verbs[action.verb].act(sim, action);
}

function createRun(sim: Simulation, requestId: string, a: number, b: number, c: number): void {
  const nodes = sim.nodeIds();
  if (nodes.length === 0) return;
  const stageCount = 1 + Math.floor(a ** 2 * 4);
  const isGiven = b < 0.6;
  const first = Math.floor(c * nodes.length);
  // Some runs have several stages on one node.
  const stride = b < 0.2 ? 0.5 : 1;
  const nodeIds = Array.from(
    { length: isGiven ? stageCount : 0 },
    (_, index) => nodes[(first + Math.floor(index * stride)) % nodes.length]!,
  );
  const digits = Math.floor(c * 1000);
  const request = runRequest({
    requestId,
    nodeIds,
    stageCount: b < 0.8 ? stageCount : 0,
    oneShot: digits % 10 < 4,
    attempts: digits % 7 < 4 ? [1, 2, 8][digits % 3]! : 0,
  });
  sim.requests.push(request);
  sim.request((call) => ({ kind: 'run-requested', call, request }), requestId);
}

/** As a launcher does that has not heard the answer. */
function repeatRequest(sim: Simulation, a: number): void {
  const request = sim.requests[Math.floor(a * sim.requests.length)];
  if (request) sim.request((call) => ({ kind: 'run-requested', call, request }), request.requestId);
}

function onRun(sim: Simulation, a: number, kind: 'run-stop-requested' | 'run-delete-requested'): void {
  const ids = [...(sim.orchestrator.world?.runs.keys() ?? [])];
  const id = ids[Math.floor(a * (ids.length + 0.3))] ?? runId(999n);
  sim.request((call) => ({ kind, call, runId: id }));
}

function stopWhileStreamsBreak(sim: Simulation, a: number, b: number): void {
  onRun(sim, a, 'run-stop-requested');
  sim.time.after(b * 60, () => {
    for (const { wire } of sim.machines) wire.reset();
  });
}

function cordon(sim: Simulation, a: number, cordoned: boolean): void {
  const nodes = sim.nodeIds();
  const id = nodes[Math.floor(a * (nodes.length + 0.1))] ?? nodeId(999n);
  sim.request((call) => ({ kind: 'node-cordon-requested', call, nodeId: id, cordoned }));
}

function drain(sim: Simulation, a: number, b: number): void {
  const nodes = sim.nodeIds();
  const id = nodes[Math.floor(a * nodes.length)];
  if (id !== undefined) drainNode(sim, id, b * 40_000);
}

function drainNode(sim: Simulation, id: NodeId, deadline: number): void {
  sim.hit('drain');
  sim.request((call) => {
    sim.checker.drains.asked(call, id, Math.floor(deadline));
    return { kind: 'node-drain-requested', call, nodeId: id, deadline: Math.floor(deadline) };
  });
}

/** Whoever drained it may think better of it, in the middle of the move. */
function drainUnderRun(sim: Simulation, a: number, b: number, c: number): void {
  const runs = [...(sim.orchestrator.world?.runs.values() ?? [])].filter(
    ({ phase, mode, restart }) => phase === 'RUNNING' && mode === RunMode.RUN_MODE_SERVING && restart?.basis,
  );
  const run = runs[Math.floor(a * runs.length)];
  if (!run) return;
  const { nodeId } = run.stages[Math.floor(b * run.stages.length)]!;
  drainNode(sim, nodeId, b * 100_000);
  if (c > 0.5) return;
  sim.time.after(c * 60_000, () =>
    sim.request((call) => ({ kind: 'node-cordon-requested', call, nodeId, cordoned: false })),
  );
}

/** An operator should look first whether the machine is really gone: what lives there is nobody's until it returns. */
function deleteNode(sim: Simulation, a: number, b: number): void {
  const nodes = sim.nodeIds();
  const id = nodes[Math.floor(a * nodes.length)];
  const machine = sim.machineOf(id === undefined ? undefined : sim.orchestrator.world?.nodes.get(id));
  if (id === undefined) return;
  if (machine && machine.workers.size > 0) {
    if (b < 0.5) return;
    machine.isTrusted = false;
  }
  sim.request((call) => ({ kind: 'node-delete-requested', call, nodeId: id }));
}

/** It comes back in time with all that it held, and nobody knows it any more. */
function deleteCutOff(sim: Simulation, machine: Machine, b: number): void {
  if (machine.scope.isPaused || machine.faulty) return;
  machine.wire.block('up', 'down');
  sim.time.after(31_000, () => {
    const id = machine.disk.nodeId as NodeId;
    if (id === 0n || sim.contactOf(machine)?.session !== undefined) return;
    machine.isTrusted = false;
    sim.request((call) => ({ kind: 'node-delete-requested', call, nodeId: id }));
  });
  sim.time.after(32_000 + b * 30_000, () => !machine.scope.isPaused && !machine.isGone && machine.wire.open());
}

/** An operator stops the orchestrator, restores its data folder, and starts it again. */
function putBack(sim: Simulation): void {
  const before = sim.store.cluster;
  sim.orchestrator.kill();
  if (!sim.store.putBack()) return;
  sim.hit('backup put back');
  const { revision } = sim.store.cluster;
  sim.checker.putBack(before);
  for (const watcher of sim.watchers) watcher.putBack(revision);
}

/** The clock of the orchestrator's machine, by up to an hour ahead or back. */
function setClockInDrain(sim: Simulation, a: number, b: number, c: number): void {
  const runs = [...(sim.orchestrator.world?.runs.values() ?? [])].filter(({ phase }) => phase === 'RUNNING');
  const run = runs[Math.floor(a * runs.length)];
  if (run) drainNode(sim, run.stages[0]!.nodeId, 20_000 + b * 40_000);
  sim.time.after(b * 15_000, () => {
    sim.hit('wall clock set');
    sim.time.wallAhead += (c - 0.5) * 7_200_000;
    sim.checker.drains.clockIsSet();
  });
}

function stallOrchestrator(sim: Simulation, a: number): void {
  if (sim.orchestrator.isPaused) return;
  const millis = 500 + a ** 2 * 90_000;
  if (millis > 2500 && sim.orchestrator.world) sim.hit('loop stalled');
  sim.orchestrator.stall(millis);
}

function machineAt(sim: Simulation, a: number): Machine {
  return sim.machines[Math.floor(a * sim.machines.length)]!;
}

/** One that has something to lose, if any has. */
function busyMachineAt(sim: Simulation, a: number): Machine {
  const busy = sim.machines.filter(({ workers }) => workers.size > 0);
  return busy[Math.floor(a * busy.length)] ?? machineAt(sim, a);
}

function killAgent(sim: Simulation, machine: Machine, b: number): void {
  machine.agent?.kill();
  sim.time.after(20 + b ** 2 * 60_000, () => sim.startAgent(machine));
}

function leave(sim: Simulation, machine: Machine, b: number): void {
  const { agent } = machine;
  if (!agent) return;
  agent.leave();
  sim.time.after(15_000 + b * 60_000, () => {
    if (machine.agent === agent) agent.kill();
    sim.startAgent(machine);
  });
}

function suspend(sim: Simulation, machine: Machine, millis: number): void {
  const { scope } = machine;
  if (!machine.isOn || scope.isPaused) return;
  scope.pause();
  machine.sleptAt = Number.POSITIVE_INFINITY;
  machine.wire.block('up', 'down');
  sim.time.after(millis, () => wake(sim, machine));
}

export function wake(sim: Simulation, machine: Machine): void {
  if (!machine.scope.isPaused) return;
  machine.sleptAt = sim.time.now;
  machine.wire.open();
  machine.scope.resume();
}

function powerOff(sim: Simulation, machine: Machine, millis: number): void {
  if (machine.scope.isPaused) return;
  machine.powerOff();
  sim.time.after(millis, () => {
    if (machine.isGone) return;
    machine.powerOn();
    sim.startAgent(machine);
  });
}

function breakDisk(sim: Simulation, machine: Machine, b: number): void {
  machine.diskIsBroken = true;
  sim.time.after(1000 + b * 40_000, () => {
    machine.diskIsBroken = false;
  });
}

/** The data folder is lost; who starts there again is a stranger with the old name, until somebody renames it. */
function wipeDisk(sim: Simulation, machine: Machine, b: number): void {
  if (machine.faulty || machine.scope.isPaused) return;
  machine.agent?.kill();
  machine.wipe(b > 0.6);
  sim.time.after(50 + b * 3000, () => sim.startAgent(machine));
}

function startClone(sim: Simulation, a: number, b: number): void {
  const of = machineAt(sim, a);
  const on = machineAt(sim, b);
  if (of === on || of.faulty || on.faulty || !on.isOn || of.disk.clusterId === '') return;
  // It is taken for the first one when nobody has heard of that for a while.
  if (b > 0.5) partition(sim, [of], 0.9, 0.3);
  const clone = new FaultyAgent(on, 'clone', on.random.fork(`clone ${on.processes}`), of);
  sim.clones.push(clone);
  sim.time.after(20_000 + b * 60_000, () => clone.end());
}

function turnFaulty(sim: Simulation, machine: Machine, b: number): void {
  if (machine.faulty || !machine.isOn || machine.scope.isPaused || machine.index === 0) return;
  machine.agent?.kill();
  // It has no workers, and even it ends what was left behind.
  for (const worker of machine.workers) worker.vanish();
  machine.workers.clear();
  const kinds = faultyKinds.filter((kind) => kind !== 'clone');
  const kind = kinds[Math.floor(b * kinds.length)]!;
  sim.trace(() => `${machine.name} now ${kind}`);
  machine.faulty = new FaultyAgent(machine, kind, machine.random.fork(`faulty ${machine.processes}`));
}

function pickWorker(sim: Simulation, a: number, b: number) {
  const workers = [...machineAt(sim, a).workers, ...machineAt(sim, b).workers].filter((worker) => !worker.isOrphan);
  return workers[Math.floor(b * workers.length)];
}

function partition(sim: Simulation, machines: readonly Machine[], b: number, c: number): void {
  for (const machine of machines) {
    const { wire, scope } = machine;
    if (scope.isPaused) continue;
    if (b < 0.3) wire.block('up');
    else if (b < 0.6) wire.block('down');
    else wire.block('up', 'down');
    sim.time.after(1000 + c ** 1.5 * 220_000, () => !scope.isPaused && !machine.isGone && wire.open());
  }
}

/** Back just when everybody has given it up, with all that it holds. */
function cutOffUntilLost(sim: Simulation, machine: Machine, b: number): void {
  const { wire, scope } = machine;
  if (scope.isPaused) return;
  wire.block('up', 'down');
  const look = (left: number) => {
    if (scope.isPaused || machine.isGone) return;
    if (sim.contactOf(machine)?.lost || left === 0) sim.time.after(b * 2000, () => !machine.isGone && wire.open());
    else sim.time.after(200, () => look(left - 1));
  };
  look(450);
}

function massLoss(sim: Simulation, a: number, b: number): void {
  const first = Math.floor(a * sim.machines.length);
  const count = Math.ceil(sim.machines.length * 0.75);
  const machines = Array.from({ length: count }, (_, index) => sim.machines[(first + index) % sim.machines.length]!);
  partition(sim, machines, 0.9, b);
}
