import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import {
  type GenerateText,
  type OpenTokenEndpoint,
  TokenEndpointCommand,
  TokenEndpointEvent,
  type TokenEndpointHealth,
} from '../../gen/stageplane/v1/token_endpoint.js';
import { HealthCheck } from '../agent/health-check.js';
import { LogTail } from '../agent/log-tail.js';
import { workerEnvironment } from '../agent/worker-environment.js';
import type { WorkerTimings } from '../agent/worker-timings.js';
import { limits } from '../core/limits.js';
import { packageRoot } from '../package-root.js';
import { type Line, LineSplitter } from '../worker/line-splitter.js';
import { parseMessageLine } from '../worker/parse-message-line.js';
import { workerFault } from '../worker/stage-fault.js';
import { type AnswerReader, OpenAnswers } from './open-answers.js';
import type { EndpointFault } from './open-token-edges.js';

/** What becomes of a token endpoint. */
export interface EndpointListener {
  /** Both edges are connected: prompts are taken. Once. */
  ready(): void;
  /** It is over without having been asked to, and every open answer has had its `done`. Once. */
  lost(fault: EndpointFault, logTail: readonly string[]): void;
  /** The answer to a health check. */
  healthy(health: TokenEndpointHealth): void;
}

export interface EndpointHostOptions {
  readonly timings: WorkerTimings;
  /** Default: this package's own endpoint. Never goes through a shell. */
  readonly command?: readonly string[];
  /** Words that come before the command, of `confineWorkers`. */
  readonly confinement?: readonly string[];
}

const ownCommand = () => [process.execPath, join(packageRoot(), 'dist', 'src', 'token-endpoint', 'main.js')];

/** One token endpoint process, as its orchestrator has it. It lives no longer: its stdin closes with the orchestrator. */
export class EndpointHost {
  /** Resolves when nothing of the process is left. */
  readonly reaped: Promise<void>;
  readonly #child: ChildProcess;
  readonly #lines = new LineSplitter();
  readonly #tail = new LogTail();
  readonly #answers = new OpenAnswers();
  readonly #health: HealthCheck;
  readonly #helloTimer: NodeJS.Timeout;
  #killTimer: NodeJS.Timeout | undefined;
  #greeted = false;
  #wasReady = false;
  /** Asked to end, or lost. */
  #isOver = false;
  /** Nothing that it says counts any more. */
  #isLost = false;

  constructor(
    readonly listener: EndpointListener,
    readonly options: EndpointHostOptions,
  ) {
    const { timings } = options;
    const silent = (waited: number) => this.#lose('WORKER_UNRESPONSIVE', `said nothing for ${waited} ms`);
    this.#health = new HealthCheck(timings, {
      ask: (sequence) => this.#send({ $case: 'checkHealth', value: { sequence } }),
      silent,
    });
    this.#helloTimer = setTimeout(() => silent(timings.hello), timings.hello);
    const [program, ...args] = [...(options.confinement ?? []), ...(options.command ?? ownCommand())];
    this.#child = spawn(program!, args, { stdio: 'pipe', env: workerEnvironment(), windowsHide: true });
    this.reaped = this.#watch(this.#child);
  }

  get logTail(): string[] {
    return this.#tail.lines();
  }

  /** Sent once, at any time. */
  open(command: OpenTokenEndpoint): void {
    this.#send({ $case: 'open', value: command });
  }

  /** Asks for an answer; gives the id by which it is acknowledged and cancelled. `reader` may be told before it returns. */
  generate(request: Omit<GenerateText, 'requestId'>, reader: AnswerReader): string {
    const requestId = this.#answers.add(reader);
    if (this.#isOver) this.#answers.end('the token endpoint is over: start the run again');
    else this.#send({ $case: 'generate', value: { ...request, requestId } });
    return requestId;
  }

  /** The reader has taken `tokens` tokens of an answer in all; an answer too far ahead of that waits, and ends. */
  acknowledge(requestId: string, tokens: number): void {
    this.#send({ $case: 'acknowledge', value: { requestId, tokens } });
  }

  /** `done` follows, unless it came already. */
  cancel(requestId: string, reason: string): void {
    this.#send({ $case: 'cancel', value: { requestId, reason } });
  }

  endConversation(conversation: string): void {
    this.#send({ $case: 'endConversation', value: { conversation } });
  }

  /** Asks it to end; SIGKILL when it has not by the end of the grace. Open answers end UNAVAILABLE. */
  close(reason: string): Promise<void> {
    this.#isOver = true;
    this.#send({ $case: 'close', value: { reason } });
    this.#killTimer ??= setTimeout(() => this.#child.kill('SIGKILL'), this.options.timings.stopGrace);
    return this.reaped;
  }

  async #watch(child: ChildProcess): Promise<void> {
    // It may be gone before what is written to it: its exit says so.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {});
    child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr?.on('data', (chunk: Buffer) => this.#tail.push(chunk));
    child.on('error', (error) => {
      // The same event also tells of a signal that could not be sent to a process that is there.
      if (child.pid === undefined) this.#lose('WORKER_START_FAILED', `could not be started (${error.message})`);
    });
    // Comes after a failed start, too, and after the last line was read.
    const [code, signal] = await once(child, 'close').catch(() => once(child, 'close'));
    clearTimeout(this.#killTimer);
    this.#lose('WORKER_EXITED', `ended with ${signal ?? `exit code ${code}`}`);
    this.#quiet();
    this.#answers.end('the token endpoint ended: start the run again');
  }

  #read(chunk: Buffer): void {
    for (const line of this.#lines.push(chunk)) {
      if (this.#isLost) return;
      const problem = this.#take(line);
      if (problem !== undefined) this.#lose('WORKER_PROTOCOL', `wrote a line that ${problem}`);
    }
  }

  #take(line: Line): string | undefined {
    if (line.kind === 'too-long') return `is longer than ${limits.workerLineBytes} bytes`;
    const parsed = parseMessageLine(TokenEndpointEvent, line.text);
    if (parsed.kind === 'malformed') return parsed.problem;
    const { event } = parsed.message;
    if (event === undefined) return 'has none of the events of the protocol';
    if ((event.$case === 'hello') === this.#greeted) {
      return event.$case === 'hello' ? 'says hello a second time' : `says ${event.$case} before hello`;
    }
    if (event.$case === 'ready' && this.#wasReady) return 'says ready a second time';
    this.#pass(event);
    return undefined;
  }

  #pass(event: NonNullable<TokenEndpointEvent['event']>): void {
    switch (event.$case) {
      case 'hello':
        clearTimeout(this.#helloTimer);
        this.#greeted = true;
        this.#health.start();
        break;
      case 'ready':
        this.#wasReady = true;
        this.listener.ready();
        break;
      case 'delta':
      case 'done':
      case 'refused':
        this.#answers.pass(event);
        break;
      case 'fault':
        this.#over(event.value);
        break;
      case 'health':
        this.#health.answered(event.value.sequence);
        this.listener.healthy(event.value);
        break;
      case 'stopped':
        // Only the exit counts: the process is still there.
        break;
    }
  }

  #lose(reason: WorkerReason, what: string): void {
    const sentence = `the token endpoint ${what}: start the run again, and look at the log if that repeats itself`;
    this.#over({ ...workerFault(StageFaultReason[`STAGE_FAULT_REASON_${reason}`], sentence), edgeId: 0n });
  }

  /** An endpoint that failed, or broke its word, is of no use to anyone. */
  #over(fault: EndpointFault): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#isLost = true;
    this.#quiet();
    this.#child.kill('SIGKILL');
    this.#answers.end(fault.message);
    this.listener.lost(fault, this.logTail);
  }

  #quiet(): void {
    clearTimeout(this.#helloTimer);
    this.#health.end();
  }

  #send(command: NonNullable<TokenEndpointCommand['command']>): void {
    const { stdin } = this.#child;
    if (stdin?.writable) stdin.write(`${JSON.stringify(TokenEndpointCommand.toJSON({ command }))}\n`);
  }
}

type WorkerReason = 'WORKER_UNRESPONSIVE' | 'WORKER_START_FAILED' | 'WORKER_EXITED' | 'WORKER_PROTOCOL';
