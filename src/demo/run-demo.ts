import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import type { PlanRequest } from '../../gen/stageplane/v1/planner.js';
import { type Run, RunPhase } from '../../gen/stageplane/v1/run.js';
import { planView } from '../cli/format/plan-view.js';
import { limits } from '../core/limits.js';
import { inspectModel } from '../gguf/inspect-model.js';
import { writeTinyModel } from '../gguf/tiny-model.js';
import { dial, unaryCall } from '../grpc/client.js';
import { clientOptions } from '../grpc/client-options.js';
import { descendantsOf } from '../process/descendants.js';
import { Daemon } from './daemon.js';
import { answerView, askDemo, comparison, DEMO_PROMPT, demoRequest, sameTokens } from './demo-text.js';
import { leftovers } from './leftovers.js';
import { type SecureSetup, secureSetup } from './secure-setup.js';
import { stagePicture } from './stage-picture.js';
import { nodesReady, runReaches } from './wait-for.js';

export interface DemoOptions {
  /** A GGUF file; default: a tiny one that is made for the demo. */
  readonly model?: string;
  /** Everyone shows a certificate, and edges go over mutual TLS. */
  readonly secure: boolean;
  /** Keeps the folder with data and logs. */
  readonly keep: boolean;
  readonly say: (line: string) => void;
  /** Ends the demo early; what it has started is stopped all the same. */
  readonly signal: AbortSignal;
}

/** What the steps share. */
interface Scene extends DemoOptions {
  readonly folder: string;
  readonly daemons: Daemon[];
  /** Of a secure demo. */
  readonly setup?: SecureSetup | undefined;
}

/** What the demo found, for programs. */
export interface DemoResult {
  readonly run: Run;
  readonly folder: string;
  /** Whether the stages said token by token what the whole model says. */
  readonly identical: boolean;
  /** Processes and sockets that were left behind; empty when all is well. */
  readonly leftovers: readonly string[];
}

/** With the node id that each asks for, or gets as the next one that joins, so that the picture is the same each time. */
const agents = [
  { name: 'alpha', nodeId: '2' },
  { name: 'beta', nodeId: '3' },
  { name: 'gamma', nodeId: '4' },
];

/** A model in stages and whole, on this machine, in real processes. Rejects with a sentence when a step fails or is cut short. */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  if (options.model !== undefined) await mustBePlannable(options.model);
  const folder = mkdtempSync(join(tmpdir(), 'stageplane-demo-'));
  const daemons: Daemon[] = [];
  const forget = () => rmSync(folder, { recursive: true, force: true });
  // A reader that is gone, as of `demo | head`, ends this process without another word.
  if (!options.keep) process.once('exit', forget);
  let failed = true;
  try {
    const { run, identical, pids } = await demonstrate({ ...options, folder, daemons });
    options.say('9. Stopping the agents and the orchestrator');
    for (const daemon of daemons.toReversed()) {
      const code = await daemon.stop();
      if (code !== 0) throw new Error(`the ${daemon.name} ended with ${code}; its log is ${daemon.logPath}`);
    }
    const left = leftovers(folder, pids);
    options.say(left.length === 0 ? '   no process and no socket is left' : `   left behind: ${left.join(', ')}`);
    failed = left.length > 0;
    return { run, folder, identical, leftovers: left };
  } finally {
    for (const daemon of daemons.toReversed()) await daemon.stop();
    process.off('exit', forget);
    if (options.keep || (failed && !options.signal.aborted)) options.say(`   data and logs are in ${folder}`);
    else forget();
  }
}

async function demonstrate(options: Scene) {
  const { model, secure, folder, say, signal } = options;
  const nodeIds = ['1', ...agents.map(({ nodeId }) => nodeId)];
  const setup = secure ? await secureSetup(orchestratorData(folder), nodeIds, signal) : undefined;
  const scene = { ...options, setup };
  const path = model === undefined ? await makeModel(scene) : resolve(model);
  if (model !== undefined) say(`1. Using the model ${path}`);

  const daemons = await startOrchestrator(scene);
  const client = dial(daemons.address, OrchestratorServiceClient, clientOptions, setup?.credentials);
  try {
    await startAgents(scene, dirname(path), daemons, client);
    const split = await splitRun(scene, client, path);
    say('8. The same with the whole model in one process');
    const whole = await planAndStart(scene, client, demoRequest(path, 1));
    const wholePids = descendantsOf(process.pid);
    const wholeAnswer = await askDemo(client, whole.runId, scene.signal);
    say(indent(answerView(wholeAnswer)));
    await stop(scene, client, whole);
    const identical = sameTokens(split.answer, wholeAnswer);
    say(`   ${comparison(identical, split.run)}`);
    return { run: split.run, identical, pids: [...split.pids, ...wholePids] };
  } finally {
    client.close();
  }
}

/** The model in as many stages as there are agents, from its plan to its end. */
async function splitRun(scene: Scene, client: OrchestratorServiceClient, path: string) {
  const { say, signal } = scene;
  say('4. Planning it, committing it, and sending each node its own stage:');
  const plan = demoRequest(path, agents.length);
  say(indent(await plannedPicture(client, plan, signal)));
  const running = await planAndStart(scene, client, plan);
  const pids = descendantsOf(process.pid);
  const count = running.stages.length;
  say(`5. Run ${running.runId} is RUNNING: ${count} workers hold their own layers and nothing else`);
  say(indent(stagePicture(running)));
  say(`6. Asking it "${DEMO_PROMPT}": each token goes through ${count} processes`);
  const answer = await askDemo(client, running.runId, signal);
  say(indent(answerView(answer)));
  say('7. Stopping the run: every worker is reaped before its stage is STOPPED');
  const run = await stop(scene, client, running);
  return { run, answer, pids };
}

async function stop({ say, signal }: Scene, client: OrchestratorServiceClient, run: Run): Promise<Run> {
  await unaryCall(client, Service.stopRun, { runId: run.runId }, { signal });
  await runReaches(client, run, RunPhase.RUN_PHASE_DONE, (line) => say(indent(line)), signal);
  const { run: ended } = await unaryCall(client, Service.getRun, { runId: run.runId }, { signal });
  return ended ?? run;
}

/** Before anything is started: a path with a typing error should not cost four processes. */
async function mustBePlannable(model: string): Promise<void> {
  const inspected = await inspectModel(model);
  const obstacle = inspected.kind === 'refused' ? inspected.error.message : inspected.obstacle;
  if (obstacle !== undefined) throw new Error(obstacle);
}

async function makeModel({ folder, say }: Scene): Promise<string> {
  const models = join(folder, 'models');
  mkdirSync(models);
  const [path] = await writeTinyModel(join(models, 'tiny.gguf'));
  say(`1. Wrote a small llama model with 8 layers: ${path}`);
  return path;
}

function startDaemon({ folder, daemons, signal }: Scene, name: string, args: readonly string[]): Daemon {
  signal.throwIfAborted();
  const daemon = new Daemon(name, args, join(folder, `${name.replace('agent ', '')}.log`), runtimeFolder(folder));
  daemons.push(daemon);
  return daemon;
}

/** The sockets of edges lie in the demo's folder as well, unless their paths would be too long for the kernel. */
function runtimeFolder(folder: string): NodeJS.ProcessEnv {
  const longest = join(folder, 'stageplane-65534/own-12345678/4194304-1-2-1.sock');
  return Buffer.byteLength(longest) <= limits.socketPathBytes ? { XDG_RUNTIME_DIR: folder } : {};
}

interface Addresses {
  readonly address: string;
  /** Where tokens are redeemed. */
  readonly enrollAddress: string;
}

async function startOrchestrator(scene: Scene): Promise<Addresses> {
  const { folder, setup, signal, say } = scene;
  const args = ['orchestrator', '--listen', '127.0.0.1:0', '--data', orchestratorData(folder), '--json'];
  args.push('--log-level', 'info', ...(setup?.edgeFlags('1') ?? []));
  const { address, enrollAddress = '' } = await startDaemon(scene, 'orchestrator', args).firstAnswer(signal);
  if (address === undefined) throw new Error('the orchestrator did not say where it listens');
  const secured = setup ? ', with a CA of its own: everyone shows a certificate' : '';
  say(`2. Started an orchestrator on ${address}${secured}`);
  return { address, enrollAddress };
}

async function startAgents(
  scene: Scene,
  models: string,
  { address, enrollAddress }: Addresses,
  client: OrchestratorServiceClient,
): Promise<void> {
  const { folder, setup, signal, say } = scene;
  for (const [at, { name, nodeId }] of agents.entries()) {
    const data = join(folder, name);
    const args = ['agent', '--orchestrator', address, '--name', name, '--data', data, '--models', models, '--json'];
    if (setup) args.push('--enroll', enrollAddress, '--join', await setup.token(name), ...setup.edgeFlags(nodeId));
    else args.push('--node-id', nodeId);
    startDaemon(scene, `agent ${name}`, args);
    // Who joins by a token gets the next id.
    if (setup) await nodesReady(client, at + 1, signal);
  }
  await nodesReady(client, agents.length, signal);
  const names = agents.map(({ name }) => name).join(', ');
  const how = setup ? ', each with a token of its own; edges between them go over mutual TLS' : '';
  say(`3. Started ${agents.length} agents, which joined as nodes: ${names}${how}`);
}

function orchestratorData(folder: string): string {
  return join(folder, 'orchestrator');
}

async function plannedPicture(
  client: OrchestratorServiceClient,
  plan: PlanRequest,
  signal: AbortSignal,
): Promise<string> {
  const { nodes } = await unaryCall(client, Service.listNodes, { pageSize: 0, pageToken: '' }, { signal });
  const planned = await unaryCall(client, Service.planRun, { plan }, { signal });
  if (planned.outcome?.$case !== 'plan') throw new Error(planned.outcome?.value.message ?? 'no plan came back');
  const { value } = planned.outcome;
  return planView({ ...value, plan: value.plan!, report: planned.report, nodes });
}

async function planAndStart(
  { say, signal }: Scene,
  client: OrchestratorServiceClient,
  plan: PlanRequest,
): Promise<Run> {
  const request = { requestId: `demo with ${plan.stageCount}`, plan };
  const created = await unaryCall(client, Service.createRun, request, { signal });
  if (created.outcome?.$case !== 'run') throw new Error(created.outcome?.value.message ?? 'no run came back');
  const { runId } = created.outcome.value;
  await runReaches(client, { runId, revision: 0n }, RunPhase.RUN_PHASE_RUNNING, (line) => say(indent(line)), signal);
  const { run } = await unaryCall(client, Service.getRun, { runId }, { signal });
  return run!;
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '   ');
}
