import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { isAlive } from '../../src/process/descendants.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { openBeacon } from './beacon.js';
import { Mailbox } from './mailbox.js';
import { ScriptedOrchestrator } from './scripted-orchestrator.js';
import { oddWorker, provisionOf } from './start-agent.js';

const program = fileURLToPath(new URL('fixtures/agent-process.mjs', import.meta.url));
const hasSetpriv = (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'setpriv')));

/** Agents in processes of their own, one after the other in the same data folder. */
async function openAgents(habit: string, path = process.env.PATH) {
  const beacon = await openBeacon();
  const orchestrator = await ScriptedOrchestrator.open();
  const dataFolder = temporaryFolder();
  const models = join(temporaryFolder(), 'models');
  mkdirSync(models);
  writeFileSync(join(models, 'm.gguf'), 'GGUF');
  // Last of all, when the agents are gone: what would outlive the test as well.
  onTestFinished(() => registeredWorkers(dataFolder).forEach(killIfThere));
  const environment = { PATH: path, AGENT_LOG: 'warn', STAGEPLANE_WORKER_BEACON: String(beacon.port) };
  const log = new Mailbox<string>();
  const start = (): ChildProcess => {
    const args = [program, orchestrator.address, dataFolder, models, ...oddWorker(habit)];
    const agent = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'], env: environment });
    onTestFinished(() => void agent.kill('SIGKILL'));
    createInterface({ input: agent.stderr! }).on('line', (line) => log.put(line));
    return agent;
  };
  /** Gives the stage to the agent's n-th session; resolves with its worker's process id when it is ready. */
  const provision = async (session: number) => {
    const opened = await orchestrator.session(session);
    await opened.welcome();
    opened.say({ $case: 'provision', value: provisionOf('m.gguf') });
    await opened.hearReport('ready');
    const sign = await beacon.signs.find((heard) => heard.startsWith('up stage'));
    const pid = Number(sign.split(' ').at(-1));
    onTestFinished(() => killIfThere(pid));
    return pid;
  };
  return { beacon, orchestrator, dataFolder, log, start, provision };
}

function registeredWorkers(dataFolder: string): number[] {
  const path = join(dataFolder, 'workers.json');
  const [, workers = ''] = existsSync(path) ? readFileSync(path, 'utf8').split('"workers":') : [];
  return [...workers.matchAll(/"pid":(\d+)/g)].map(([, pid]) => Number(pid));
}

function killIfThere(pid: number): void {
  if (isAlive(pid)) process.kill(pid, 'SIGKILL');
}

async function killHard(agent: ChildProcess): Promise<void> {
  const exited = once(agent, 'exit');
  agent.kill('SIGKILL');
  await exited;
}

it.skipIf(!hasSetpriv)('a worker that ignores everything ends with its agent all the same, by the kernel', async () => {
  const { beacon, start, provision } = await openAgents('immortal');
  const agent = start();
  const pid = await provision(1);
  await killHard(agent);
  await beacon.signs.find((sign) => sign === `down stage ${pid}`);
});

it('a worker that outlives its agent is ended by the next one, which says so and starts afresh (I18)', async () => {
  // Without the program by which the kernel would end it.
  const { beacon, dataFolder, log, orchestrator, start, provision } = await openAgents('immortal', '/nowhere');
  const first = start();
  const pid = await provision(1);
  expect(readFileSync(join(dataFolder, 'workers.json'), 'utf8')).toContain(`"pid":${pid},`);
  await killHard(first);
  expect(isAlive(pid)).toBe(true);

  const second = start();
  await beacon.signs.find((sign) => sign === `down stage ${pid}`);
  const line = await log.find((said) => said.includes(`"pid":${pid},`));
  expect(JSON.parse(line)).toMatchObject({ pid, msg: 'ending a worker that an earlier agent has left behind' });
  expect((await (await orchestrator.session(2)).welcome()).held).toEqual([]);
  await killHard(second);
});

it.skipIf(process.platform !== 'linux')('what a worker had hidden is found by the next agent too', async () => {
  const { beacon, log, orchestrator, start, provision } = await openAgents('escapes');
  const first = start();
  await provision(1);
  await beacon.signs.find((sign) => sign === 'up fugitive');
  await killHard(first);
  const second = start();
  await beacon.signs.find((sign) => sign === 'down fugitive');
  await log.find((said) => said.includes('ending a process that an earlier agent has left behind'));
  await (await orchestrator.session(2)).welcome();
  await killHard(second);
});

it('a process that only has the number of an earlier worker is left alone', async () => {
  const { dataFolder, orchestrator, start } = await openAgents('good');
  const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore', detached: true });
  onTestFinished(() => void stranger.kill('SIGKILL'));
  const gone = spawn(process.execPath, ['-e', '']);
  await once(gone, 'exit');
  const page = {
    agent: { pid: gone.pid, start: 'long ago' },
    mark: 'nobody',
    workers: [{ pid: stranger.pid, start: 'long ago' }, { pid: -1, start: 'long ago' }, 'rubbish'],
  };
  writeFileSync(join(dataFolder, 'workers.json'), JSON.stringify(page));
  const agent = start();
  await (await orchestrator.session(1)).welcome();
  expect(isAlive(stranger.pid!)).toBe(true);
  await killHard(agent);
});

it('the register of an agent that lives, in a copied folder, ends nothing', async () => {
  const one = await openAgents('good');
  const first = one.start();
  const pid = await one.provision(1);
  const register = readFileSync(join(one.dataFolder, 'workers.json'));
  const other = await openAgents('good');
  writeFileSync(join(other.dataFolder, 'workers.json'), register);
  const second = other.start();
  await (await other.orchestrator.session(1)).welcome();
  expect(isAlive(pid)).toBe(true);
  await killHard(first);
  await killHard(second);
});

it('a register that power cut in half is no obstacle', async () => {
  const { dataFolder, orchestrator, start } = await openAgents('good');
  writeFileSync(join(dataFolder, 'workers.json'), '{"agent":{"pi');
  const agent = start();
  await (await orchestrator.session(1)).welcome();
  await killHard(agent);
});
