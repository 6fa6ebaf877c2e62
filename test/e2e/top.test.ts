import { join } from 'node:path';
import { expect, it } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunPhase } from '../../gen/stageplane/v1/run.js';
import { unaryCall } from '../../src/grpc/client.js';
import { packageRoot } from '../../src/package-root.js';
import { PseudoTerminal } from '../support/pseudo-terminal.js';
import { watchUntil } from '../support/running-orchestrator.js';
import { Cluster } from './cluster.js';

const top = `${process.execPath} ${join(packageRoot(), 'dist', 'src', 'cli', 'main.js')} top`;
const size = { columns: 120, rows: 30 };
const entered = '\x1b[?1049h';
const left = '\x1b[?25h\x1b[?1049l';

it('top shows nodes and runs on a terminal, obeys keys, comes back after a restart and leaves the terminal as it was', async () => {
  const cluster = await Cluster.start(['alpha', 'beta'], { agentFlags: ['--label', 'room=lab'] });
  const terminal = await PseudoTerminal.open(`${top} --orchestrator ${cluster.address}`, size);
  await terminal.shows(/alpha \(\d\) +schedulable +cpu/);
  await terminal.shows(/nodes: 2 \(2 schedulable\) +runs: none/);
  expect(terminal.written).toContain(entered);
  expect(terminal.written).toContain('room=lab');

  const runId = await cluster.create('first', 2);
  // Which of the two comes first is the plan's to say: it goes by the memory that they measured.
  await terminal.shows(/1 +\S+ +\S+ +0\/2 .*\[0-\d (?:alpha|beta) \S+\] \[\d-\d (?:alpha|beta) \S+\]/);
  cluster.openGate();
  await watchUntil(cluster.client, runId, RunPhase.RUN_PHASE_RUNNING);
  await terminal.shows(/1 {2}RUNNING +\S+ +2\/2/);
  await terminal.shows(/run 1 {2}RUNNING/);

  let mark = terminal.mark;
  terminal.type('?');
  await terminal.shows(/memory bars/, mark);
  terminal.type('?');
  terminal.type('\r');
  await terminal.shows(/RUN 1/, mark);
  // What happened before anybody looked.
  await terminal.shows(/run 1 {2}PROVISIONING/, mark);
  mark = terminal.mark;
  terminal.type('\r');
  await terminal.shows(/EVENTS/, mark);

  mark = terminal.mark;
  terminal.resize({ columns: 60, rows: 20 });
  await terminal.shows(/EVENTS/, mark);
  terminal.resize({ columns: 200, rows: 60 });

  mark = terminal.mark;
  await cluster.kill('orchestrator', 'SIGTERM');
  await terminal.shows(/connection lost, since \d\d:\d\d:\d\d \(\d+s\), trying again/, mark);
  mark = terminal.mark;
  await cluster.startOrchestrator();
  await terminal.shows(/revision \d+ {2}connected/, mark);
  await unaryCall(cluster.client, Service.stopRun, { runId });
  await watchUntil(cluster.client, runId, RunPhase.RUN_PHASE_DONE);
  await terminal.shows(/1 {2}STOPPED/, mark);
  await terminal.shows(/run 1 {2}DONE {2}STOPPED/, mark);

  terminal.type('q');
  await terminal.shows(/\[exit 0\]/);
  expect(terminal.written).toContain(left);
  expect(await terminal.end()).toBe(0);
}, 180_000);

it.each([
  ['is told to end', 'SIGTERM', 130],
  ['crashes', 'SIGUSR2', 1],
] as const)(
  'top leaves the terminal as it was when it %s',
  async (_how, signal, code) => {
    const cluster = await Cluster.start(['alpha']);
    const fuse = "process.on('SIGUSR2',()=>{throw(new(Error)('fuse'))})";
    const environment = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fuse)}` };
    const terminal = await PseudoTerminal.open(`${top} --orchestrator ${cluster.address}`, size, environment);
    const before = terminal.settings();
    await terminal.shows(/nodes: 1/);
    expect(terminal.settings()).toContain('-icanon');
    for (const pid of terminal.processes()) process.kill(pid, signal);
    await terminal.shows(new RegExp(`\\[exit ${code}\\]`));
    expect(terminal.written).toContain(left);
    // What is said of a crash is said on the screen that stays.
    const rest = terminal.written.slice(terminal.written.indexOf(left));
    if (signal === 'SIGUSR2') expect(rest).toContain('fuse');
    expect(before).toContain(' icanon');
  },
  120_000,
);
