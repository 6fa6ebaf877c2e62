import { join } from 'node:path';
import { limits } from '../core/limits.js';
import type { Identity } from '../core/machine/agent/state.js';
import { isNodeName, nodeNameAdvice } from '../core/node-name.js';
import { prepareDataFolder } from '../process/data-folder.js';
import { lockFolder } from '../process/folder-lock.js';
import { SLICE_FOLDER } from '../worker/engine/llama/slice-settings.js';
import type { AgentConfig } from './agent-config.js';
import { confineWorkers, limitFlags } from './confine-workers.js';
import { engineBuilds } from './engine-builds.js';
import { type Greeting, greetWorker } from './greet-worker.js';
import { loadIdentity } from './identity.js';
import { type NodeAccess, openNodeAccess } from './node-access.js';
import { NodeAgent } from './node-agent.js';
import { NodeEdges } from './node-edges.js';
import { WorkerPool } from './worker-pool.js';
import { WorkerProcess } from './worker-process.js';
import { foreignWorker, ownWorker, type WorkerProgram } from './worker-program.js';
import { WorkerRegister } from './worker-register.js';
import { defaultWorkerTimings } from './worker-timings.js';

export type { AgentConfig } from './agent-config.js';

/** How an agent ended. No worker is left in either case. */
export type AgentEnd =
  /** `stop` was called. */
  | { readonly kind: 'stopped' }
  /** It cannot run as it was told to, or the orchestrator will never have it: exit with 1. `message` is for people. */
  | { readonly kind: 'refused'; readonly message: string };

export interface AgentHandle {
  /** Settles when the agent has ended; rejects only on a defect. */
  readonly done: Promise<AgentEnd>;
  /** Who the agent is; undefined until its folder has been read. */
  readonly identity: Identity | undefined;
  /** Stops all stages, reports them, says Goodbye. Resolves with `done`; calling it again changes nothing. */
  stop(reason?: string): Promise<AgentEnd>;
}

/**
 * Runs a node agent: it joins the orchestrator, and comes back to it for as long as it lives. Signals are the caller's:
 * on SIGTERM or SIGINT call `stop`. Never throws; what cannot work is told in `done`.
 */
export function runAgent(config: AgentConfig): AgentHandle {
  let agent: NodeAgent | undefined;
  const stopped = new AbortController();
  const done = start(config, stopped.signal, (started) => {
    agent = started;
  });
  return {
    done,
    get identity() {
      return agent?.identity;
    },
    stop(reason = 'the agent was told to stop') {
      stopped.abort(reason);
      return done;
    },
  };
}

async function start(
  config: AgentConfig,
  stopped: AbortSignal,
  started: (agent: NodeAgent) => void,
): Promise<AgentEnd> {
  const problem = problemOf(config);
  if (problem !== undefined) return { kind: 'refused', message: problem };
  const folder = prepareDataFolder(config.dataFolder);
  if (folder.kind === 'refused') return folder;
  const lock = lockFolder(folder.path);
  if (lock.kind === 'refused') return lock;
  try {
    return await runIn({ ...config, dataFolder: folder.path }, stopped, started);
  } finally {
    lock.release();
  }
}

async function runIn(
  config: AgentConfig,
  stopped: AbortSignal,
  started: (agent: NodeAgent) => void,
): Promise<AgentEnd> {
  const loaded = loadIdentity(config.dataFolder, config.rejoin ?? false);
  if (loaded.kind === 'refused') return loaded;
  const opened = await openNodeAccess(config, loaded.identity.instanceId, stopped);
  if (opened.kind === 'refused' || opened.kind === 'stopped') return opened;
  const access = opened.kind === 'open' ? opened.access : undefined;
  const register = new WorkerRegister(join(config.dataFolder, 'workers.json'), config.logger);
  // Before the edges: what is left may still listen there.
  await register.begin();
  const { instanceId } = loaded.identity;
  const onNote = (note: string) => config.logger.warn({ why: note }, 'edge gateway');
  const credentials = access && (() => access.credentials);
  const edges = new NodeEdges({ flags: config.edges ?? {}, instanceId, credentials, onNote });
  try {
    const refusal = await edges.begin(loaded.identity);
    if (refusal !== undefined) return { kind: 'refused', message: refusal.message };
    if (stopped.aborted) return { kind: 'stopped' };
    return await runWith({ edges, register, identity: loaded.identity, access, config }, stopped, started);
  } finally {
    await edges.close();
    register.end();
  }
}

interface Parts {
  readonly config: AgentConfig;
  readonly identity: Identity;
  readonly access: NodeAccess | undefined;
  readonly edges: NodeEdges;
  readonly register: WorkerRegister;
}

async function runWith(
  { config, identity, access, edges, register }: Parts,
  stopped: AbortSignal,
  started: (agent: NodeAgent) => void,
): Promise<AgentEnd> {
  const logs = prepareDataFolder(join(config.dataFolder, 'logs'));
  if (logs.kind === 'refused') return logs;
  const confinement = await confineWorkers(config.workerLimits ?? {});
  if (confinement.kind === 'refused') return confinement;
  const program = config.workerCommand ? foreignWorker(config.workerCommand) : ownWorker();
  const startWorker = () => startWorkerOf([...confinement.words, ...program.command], config, register);
  const first = startWorker();
  const toCheck = ['--worker', ...limitFlags(config.workerLimits ?? {})];
  const greeting = await greetUntil(stopped, () => greetWorker(first, program.command, toCheck), first);
  if (greeting.kind === 'failed') {
    return stopped.aborted ? { kind: 'stopped' } : { kind: 'refused', message: greeting.message };
  }
  const { engines, features } = greeting.hello;
  const builds = await engineBuilds(program, engines);
  const pool = fillPool(config, program, startWorker, first);
  const agent = new NodeAgent({ config, identity, access, logFolder: logs.path, builds, features, pool, edges });
  started(agent);
  const leave = () => agent.leave(String(stopped.reason));
  if (stopped.aborted) leave();
  else stopped.addEventListener('abort', leave);
  const end = await agent.run();
  // When none is kept warm, the first one was only asked, and may still be ending.
  await first.reaped;
  return end;
}

function startWorkerOf(command: readonly string[], config: AgentConfig, register: WorkerRegister): WorkerProcess {
  return new WorkerProcess({
    command,
    timings: { ...defaultWorkerTimings, ...config.workerTimings },
    onLogError: (error) => config.logger.warn({ err: error }, 'stage log cannot be written'),
    variables: { [SLICE_FOLDER]: join(config.dataFolder, 'slices') },
    register,
    memoryLimit: config.workerLimits?.memory,
  });
}

/** Hears what workers of this program can do. Nothing is left of one that fails. */
async function greetUntil(
  stopped: AbortSignal,
  greet: () => Promise<Greeting>,
  worker: WorkerProcess,
): Promise<Greeting> {
  const giveUp = () => worker.kill();
  stopped.addEventListener('abort', giveUp);
  const greeting = await greet();
  stopped.removeEventListener('abort', giveUp);
  if (greeting.kind === 'failed') {
    worker.kill();
    await worker.reaped;
  }
  return greeting;
}

/** @param first has said hello already; kept when any are */
function fillPool(
  { warmWorkers = limits.defaultWarmWorkers, logger }: AgentConfig,
  { isOwn }: WorkerProgram,
  start: () => WorkerProcess,
  first: WorkerProcess,
): WorkerPool {
  const warm = isOwn ? warmWorkers : 0;
  const pool = new WorkerPool({ start, warm, logger });
  if (warm > 0) pool.keep(first);
  else first.stop('it has said what it can do');
  pool.fill();
  return pool;
}

function problemOf({ orchestrator, name, nodeId, workerCommand, labels = {} }: AgentConfig): string | undefined {
  if (orchestrator.length === 0) return 'an agent needs the address of an orchestrator: name it with --orchestrator';
  if (name !== undefined && !isNodeName(name)) {
    return `"${name}" is no node name: ${nodeNameAdvice}`;
  }
  if (nodeId !== undefined && nodeId < 2n) return `--node-id ${nodeId} is not possible: ids of nodes start at 2`;
  if (workerCommand?.length === 0) return 'the command of --worker is empty: name a program, or leave it out';
  if (Object.keys(labels).length > limits.labelsPerNode) {
    return `a node has at most ${limits.labelsPerNode} labels: leave some out`;
  }
  return undefined;
}
