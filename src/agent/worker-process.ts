import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setImmediate as eventLoopTurn, setTimeout as sleep } from 'node:timers/promises';
import type { LoadProgress, StageFault, StageFootprint, StageUsage } from '../../gen/stageplane/v1/run.js';
import { WorkerCommand, WorkerEvent, type WorkerHello } from '../../gen/stageplane/v1/worker.js';
import { limits } from '../core/limits.js';
import type { WorkerExit, WorkerFailure } from '../core/machine/agent/events.js';
import { endMarked } from '../process/end-marked.js';
import { PROCESS_MARK } from '../process/marked-processes.js';
import { type Line, LineSplitter } from '../worker/line-splitter.js';
import { parseMessageLine } from '../worker/parse-message-line.js';
import { HealthCheck } from './health-check.js';
import { killGroup } from './kill-group.js';
import { preferAsVictim } from './prefer-as-victim.js';
import type { RotatingFile } from './rotating-file.js';
import { workerEnvironment } from './worker-environment.js';
import { WorkerLog } from './worker-log.js';
import type { WorkerRegister } from './worker-register.js';
import type { WorkerTimings } from './worker-timings.js';
import { boundedFault, boundedFootprint } from './worker-words.js';

/** What becomes of a worker. After `failed` only `exited` follows; `exited` is the last, and always comes. */
export interface WorkerListener {
  greeted(hello: WorkerHello): void;
  loading(progress: LoadProgress): void;
  ready(footprint: StageFootprint): void;
  faulted(fault: StageFault): void;
  /** `usage` is absent when the worker does not say what its stage holds. */
  healthy(busyMillis: bigint, usage: StageUsage | undefined): void;
  failed(failure: WorkerFailure, logTail: readonly string[]): void;
  /** Nothing of the process is left, nor of what it has started. */
  exited(exit: WorkerExit, logTail: readonly string[]): void;
}

export interface WorkerProcessOptions {
  /** The program and its arguments; never goes through a shell. */
  readonly command: readonly string[];
  readonly timings: WorkerTimings;
  readonly onLogError: (error: unknown) => void;
  /** What it sees beyond the allow-list of the agent's own environment. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Where it is written down while it lives. */
  readonly register?: WorkerRegister;
  /** Bytes that it may have for itself, as far as `command` sees to that. */
  readonly memoryLimit?: bigint | undefined;
}

/**
 * One worker process, from its start until it is reaped. It lives no longer than the agent: its stdin is a pipe that
 * closes with the agent, however that ends (I18).
 */
export class WorkerProcess {
  /** Settles when the process is reaped. */
  readonly reaped: Promise<void>;

  readonly #child: ChildProcess | undefined;
  /** In its environment, and so in that of all it starts. */
  readonly #mark: string;
  readonly #health: HealthCheck;
  readonly #lines = new LineSplitter();
  readonly #log: WorkerLog;
  #listener: WorkerListener | undefined;
  #hello: WorkerHello | undefined;
  #helloTimer: NodeJS.Timeout;
  #killTimer: NodeJS.Timeout | undefined;
  #wasKilled = false;
  /** `broken` once nothing that it says counts any more. */
  #state: 'living' | 'broken' | 'reaped' = 'living';
  #wasReaped!: () => void;
  #faultTold: Promise<void> | undefined;

  constructor(private readonly options: WorkerProcessOptions) {
    const { timings, onLogError, register } = options;
    this.#mark = register?.newMark() ?? randomUUID();
    this.reaped = new Promise((resolve) => {
      this.#wasReaped = resolve;
    });
    this.#health = new HealthCheck(timings, {
      ask: (sequence) => this.send({ command: { $case: 'checkHealth', value: { sequence } } }),
      silent: (waited) => this.#fail({ kind: 'silent', waited }),
    });
    this.#helloTimer = setTimeout(() => this.#fail({ kind: 'hello-missing', waited: timings.hello }), timings.hello);
    this.#child = this.#start();
    this.#log = new WorkerLog(this.#child?.stderr, onLogError);
  }

  /** Undefined when the process could not be started. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get isUsable(): boolean {
    return this.#state === 'living';
  }

  get logTail(): string[] {
    return this.#log.tail;
  }

  /** Hands the worker over. What the listener would have missed is said to it at once. */
  listen(listener: WorkerListener): void {
    this.#listener = listener;
    if (this.#hello) listener.greeted(this.#hello);
  }

  /** From now on stderr goes to this file too, which the worker closes at its end. */
  logTo(file: RotatingFile): void {
    this.#log.writeTo(file);
  }

  send(command: WorkerCommand): void {
    const stdin = this.#child?.stdin;
    if (stdin?.writable) stdin.write(`${JSON.stringify(WorkerCommand.toJSON(command))}\n`);
  }

  /** Asks it to end; SIGKILL when it has not by the end of the grace. */
  stop(reason: string): void {
    if (this.#state === 'reaped' || this.#killTimer) return;
    this.#quiet();
    this.send({ command: { $case: 'stop', value: { reason } } });
    this.#killTimer = setTimeout(() => this.kill(), this.options.timings.stopGrace);
  }

  /** SIGKILL, to what the worker has started as well. */
  kill(): void {
    if (this.#state === 'reaped') return;
    this.#quiet();
    this.#wasKilled = true;
    killGroup(this.#child);
  }

  #start(): ChildProcess | undefined {
    const { command, variables, register } = this.options;
    const [program = '', ...args] = command;
    try {
      const child = spawn(program, args, {
        stdio: 'pipe',
        env: { ...workerEnvironment(), ...variables, [PROCESS_MARK]: this.#mark },
        // A group of its own: Ctrl-C in the agent's terminal must not reach a worker that the agent then misses.
        detached: process.platform !== 'win32',
        windowsHide: true,
      });
      child.on('error', (error) => this.#startFailed(child, error));
      child.on('exit', (code, signal) => void this.#exited(code, signal));
      // The worker may be gone before what we write: its exit says so.
      child.stdin?.on('error', () => {});
      child.stdout?.on('error', () => {});
      child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk));
      if (child.pid !== undefined) {
        preferAsVictim(child.pid);
        // Before its first command: from then on it holds something.
        register?.started(child.pid);
      }
      return child;
    } catch (error) {
      // Told of later, when there is someone to listen.
      setImmediate(() => this.#startFailed(undefined, error as Error));
      return undefined;
    }
  }

  #startFailed(child: ChildProcess | undefined, error: Error): void {
    // The same event also tells of a signal that could not be sent to a process that is there.
    if (child?.pid !== undefined) return;
    this.#fail({ kind: 'start-failed', command: this.options.command.join(' '), why: error.message });
    void this.#exited(null, null);
  }

  #read(chunk: Buffer): void {
    for (const line of this.#lines.push(chunk)) {
      if (this.#state !== 'living') return;
      const problem = this.#take(line);
      if (problem !== undefined) this.#fail({ kind: 'line-broken', problem });
    }
  }

  #take(line: Line): string | undefined {
    if (line.kind === 'too-long') return `is longer than ${limits.workerLineBytes} bytes`;
    const parsed = parseMessageLine(WorkerEvent, line.text);
    if (parsed.kind === 'malformed') return parsed.problem;
    const { event } = parsed.message;
    if (event === undefined) return 'has none of the events of the protocol';
    if ((event.$case === 'hello') !== (this.#hello === undefined)) {
      return event.$case === 'hello' ? 'says hello a second time' : `says ${event.$case} before hello`;
    }
    this.#pass(event);
    return undefined;
  }

  #pass(event: NonNullable<WorkerEvent['event']>): void {
    switch (event.$case) {
      case 'hello':
        clearTimeout(this.#helloTimer);
        this.#hello = event.value;
        if (!this.#killTimer) this.#health.start();
        return this.#listener?.greeted(event.value);
      case 'loading':
        return this.#listener?.loading(event.value);
      case 'ready':
        return this.#listener?.ready(boundedFootprint(event.value));
      case 'fault':
        this.#faultTold = this.#tellFault(event.value);
        return;
      case 'health':
        this.#health.answered(event.value.sequence);
        return this.#listener?.healthy(event.value.busyMillis, event.value.usage);
      case 'stopped':
        // Only the exit counts: the process is still there.
        return;
    }
  }

  /** What the worker logged before its fault is in the other pipe: two turns of the event loop read it. */
  async #tellFault(fault: StageFault): Promise<void> {
    await eventLoopTurn();
    await eventLoopTurn();
    // It broke its word meanwhile, and has failed.
    if (this.#state !== 'living') return;
    this.#listener?.faulted(boundedFault(fault, this.logTail));
  }

  #fail(failure: WorkerFailure): void {
    if (this.#state !== 'living') return;
    this.#state = 'broken';
    this.#quiet();
    this.#listener?.failed(failure, this.logTail);
    // Nobody may be listening yet, and a worker that broke its word is of no use to anyone.
    this.kill();
  }

  #quiet(): void {
    clearTimeout(this.#helloTimer);
    this.#health.end();
  }

  async #exited(code: number | null, signal: string | null): Promise<void> {
    const { memoryLimit, register } = this.options;
    const exit = { code, signal, wasKilled: this.#wasKilled, memoryLimit };
    this.#quiet();
    clearTimeout(this.#killTimer);
    killGroup(this.#child);
    await this.#drained();
    await this.#faultTold;
    await this.#endStrays();
    this.#state = 'reaped';
    if (this.pid !== undefined) register?.reaped(this.pid);
    await this.#log.close();
    this.#listener?.exited(exit, this.logTail);
    this.#wasReaped();
  }

  /** What it has started may have left its group: nothing of a stage shall outlive it (I18). */
  async #endStrays(): Promise<void> {
    const worker = this.pid;
    if (worker === undefined) return;
    await endMarked(this.#mark, (stray) => {
      // The others have had their SIGKILL with the group.
      if (stray.group === worker) return;
      this.options.register?.strayed(worker, stray);
      this.#log.note(`the agent ended process ${stray.pid}, which this worker had left behind: ${stray.command}`);
    });
  }

  /** Waits for the last words in the pipes, but not for a stranger that holds them open. */
  async #drained(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    const closed = child.stdout?.closed ? undefined : new Promise((resolve) => child.once('close', resolve));
    const impatience = new AbortController();
    const { signal } = impatience;
    await Promise.race([
      Promise.all([closed, this.#log.written]),
      sleep(limits.workerPipesMillis, undefined, { signal }).catch(() => {}),
    ]);
    impatience.abort();
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  }
}
