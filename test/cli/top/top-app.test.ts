import { EventEmitter } from 'node:events';
import { render } from 'ink';
import { createElement } from 'react';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { DeviceKind, Node, NodeConditionType } from '../../../gen/stageplane/v1/node.js';
import { Run, RunOutcome, RunPhase, RunSummary, StagePhase } from '../../../gen/stageplane/v1/run.js';
import { TopApp } from '../../../src/cli/top/top-app.js';
import { TopStore } from '../../../src/cli/top/top-store.js';

/** A terminal of which every picture is kept as plain text. */
class FakeTerminal extends EventEmitter {
  readonly isTTY = true;
  last = '';
  constructor(
    public columns: number,
    public rows: number,
  ) {
    super();
  }
  write(text: string): boolean {
    this.last = text;
    return true;
  }
  get lines(): string[] {
    return this.last.split('\n');
  }
}

class FakeKeyboard extends EventEmitter {
  readonly isTTY = true;
  private waiting: string[] = [];
  press(keys: string): void {
    this.waiting.push(keys);
    this.emit('readable');
  }
  read(): string | null {
    return this.waiting.shift() ?? null;
  }
  setRawMode(): void {}
  setEncoding(): void {}
  ref(): void {}
  unref(): void {}
}

function open(columns: number, rows: number) {
  const [stdout, stdin, store] = [new FakeTerminal(columns, rows), new FakeKeyboard(), new TopStore()];
  const [onOpen, onQuit] = [vi.fn(), vi.fn()];
  const app = createElement(TopApp, { store, address: '127.0.0.1:7070', onOpen, onQuit });
  const instance = render(app, {
    stdout: stdout as unknown as NodeJS.WriteStream,
    stdin: stdin as unknown as NodeJS.ReadStream,
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false,
  });
  onTestFinished(() => {
    instance.unmount();
    store.stop();
  });
  const shows = (what: RegExp | string) =>
    vi.waitFor(() => expect(stdout.last).toMatch(what), { timeout: 20_000, interval: 20 });
  return { stdout, stdin, store, onOpen, onQuit, shows };
}

const node = (nodeId: bigint, name: string) =>
  Node.fromPartial({
    nodeId,
    name,
    liveStages: 1,
    conditions: [
      NodeConditionType.NODE_CONDITION_TYPE_CONNECTED,
      NodeConditionType.NODE_CONDITION_TYPE_RECONCILED,
      NodeConditionType.NODE_CONDITION_TYPE_SCHEDULABLE,
    ].map((type) => ({ type, met: true, message: '' })),
    descriptor: {
      devices: [
        { deviceId: 'cpu', kind: DeviceKind.DEVICE_KIND_CPU, name: '', totalBytes: 1n << 34n, freeBytes: 1n << 33n },
      ],
      labels: { room: 'lab\x1b[2J' },
    },
    reservations: [{ deviceId: 'cpu', reservedBytes: 1n << 32n, residentBytes: 0n }],
  });

const run = (runId: bigint) =>
  Run.fromPartial({
    runId,
    revision: runId,
    phase: RunPhase.RUN_PHASE_WAITING_READY,
    generation: 1,
    stages: [
      { stageIndex: 0, nodeName: 'alpha', phase: StagePhase.STAGE_PHASE_READY, layerEndExclusive: 8 },
      {
        stageIndex: 1,
        nodeName: 'beta',
        phase: StagePhase.STAGE_PHASE_LOADING,
        layerStart: 8,
        layerEndExclusive: 16,
        progress: { phase: 1, bytesDone: 43n, bytesTotal: 100n },
      },
    ],
  });

describe.each([
  [60, 20],
  [120, 30],
  [200, 60],
])('top on %i columns and %i rows', (columns, rows) => {
  it('shows the pool and the runs within its bounds', async () => {
    const { store, stdout, shows } = open(columns, rows);
    store.tell({ kind: 'node', node: node(2n, 'alpha') });
    store.tell({ kind: 'run', run: run(1n) });
    const faulted = {
      phase: RunPhase.RUN_PHASE_DONE,
      outcome: RunOutcome.RUN_OUTCOME_FAULTED,
      cause: 'the worker ended',
    };
    const summaries = [RunSummary.fromPartial({ runId: 2n, ...faulted }), RunSummary.fromPartial({ runId: 1n })];
    store.tell({ kind: 'runs', summaries, isAll: true });
    store.tell({ kind: 'connected' });
    await shows(/alpha \(2\)/);
    expect(stdout.last).toMatch(/nodes: 1 \(1 schedulable\) {2}runs: 1 WAITING_READY, 1 DONE/);
    expect(stdout.last).toMatch(/2 {2}FAULTED/);
    if (columns >= 120) {
      expect(stdout.last).toMatch(/\[0-8 alpha ready\] \[8-16 beta 43%\]/);
      expect(stdout.last).toMatch(/#+x+·+ +4\.0 GiB \/ 8\.0 GiB \/ 16\.0 GiB/);
      expect(stdout.last).toContain('the worker ended');
    }
    expect(stdout.last).not.toContain('\x1b[2J');
    expect(stdout.lines.length).toBeLessThan(rows);
    expect(Math.max(...stdout.lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
  });
});

describe.each([60, 80, 100, 120, 200])('a run that answers, on %i columns', (columns) => {
  it('shows how fast, and which generation it is where it fills the screen', async () => {
    const { store, stdin, stdout, shows } = open(columns, 24);
    const textLoad = { runningAnswers: 2, waitingPrompts: 1, heldSessions: 3, tokensPerSecond: 12.34 };
    const phase = RunPhase.RUN_PHASE_RUNNING;
    store.tell({ kind: 'run', run: Run.fromPartial({ runId: 1n, revision: 1n, generation: 1, phase, textLoad }) });
    store.tell({ kind: 'run', run: Run.fromPartial({ runId: 2n, revision: 2n, generation: 3, phase }) });
    store.tell({ kind: 'connected' });
    await shows(columns === 60 ? /1 {2}RUNNING .* 12\.3 token/ : /1 {2}RUNNING .* 12\.3 tokens\/s {2}2 answering/);
    expect(stdout.last).not.toMatch(/2 {2}RUNNING .* token/);
    stdin.press('\r');
    await shows(/RUN 2[\s\S]*generation 3/);
    stdin.press('\r');
    await shows(/EVENTS/);
    stdin.press('j\r');
    await shows(/RUN 1[\s\S]*generation 1 {2}2 answers under way, 1 waiting, 12\.3/);
    expect(stdout.lines.length).toBeLessThan(24);
    expect(Math.max(...stdout.lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
  });
});

describe('top', () => {
  it('obeys its keys, those that come at once too', async () => {
    const { store, stdin, onOpen, onQuit, shows } = open(120, 30);
    for (const id of [1n, 2n, 3n]) store.tell({ kind: 'run', run: run(id) });
    store.tell({ kind: 'connected' });
    await shows(/3 {2}WAITING_READY/);
    stdin.press('?');
    await shows(/memory bars/);
    stdin.press('x');
    await shows(/EVENTS/);
    stdin.press('jj\r');
    await shows(/RUN 1/);
    await vi.waitFor(() => expect(onOpen).toHaveBeenCalledWith(1n));
    stdin.press('\r');
    await shows(/EVENTS/);
    stdin.press('q');
    await vi.waitFor(() => expect(onQuit).toHaveBeenCalledWith('quit'));
    stdin.press('\x03');
    await vi.waitFor(() => expect(onQuit).toHaveBeenCalledWith('interrupt'));
  });

  it('says that the connection is lost, and since when', async () => {
    const { store, shows } = open(120, 30);
    store.tell({ kind: 'connected' });
    store.tell({ kind: 'lost', at: new Date(), why: 'nobody answers' });
    await shows(/connection lost, since \d\d:\d\d:\d\d \(0s\), trying again: nobody answers/);
  });

  it('scrolls through 500 nodes, and draws only those that are seen', async () => {
    const { store, stdin, stdout, shows } = open(120, 30);
    for (let id = 2n; id < 502n; id += 1n) store.tell({ kind: 'node', node: node(id, `node-${id}`) });
    await shows(/node-2 \(2\)/);
    expect(stdout.lines.length).toBeLessThan(30);
    stdin.press('\t');
    stdin.press('j');
    await shows(/1 above, 4\d\d below/);
  });
});
