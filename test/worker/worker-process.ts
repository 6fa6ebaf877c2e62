import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { StageUsage } from '../../gen/stageplane/v1/run.js';
import { WorkerCommand, WorkerEvent } from '../../gen/stageplane/v1/worker.js';
import { parseMessageLine } from '../../src/worker/parse-message-line.js';

type Event = NonNullable<WorkerEvent['event']>;
type Command = NonNullable<WorkerCommand['command']>;
type EventOf<Kind extends Event['$case']> = Extract<Event, { $case: Kind }>['value'];

/** The compiled worker; a thread needs JavaScript, so the tests run what the build made. */
export const workerMain = fileURLToPath(new URL('../../dist/src/worker/main.js', import.meta.url));

export const commandLine = (command: Command): string => JSON.stringify(WorkerCommand.toJSON({ command }));

/** A worker process from its agent's side. */
export class WorkerProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** Everything that it said, in order. */
  readonly events: Event[] = [];
  /** Lines of its stderr. */
  readonly log: string[] = [];
  /** Resolves when the process has ended and all it wrote was read. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  #waiting: (() => void)[] = [];
  #over = false;
  #asked = 0n;

  /** @param shell a command of sh that comes before it, such as a limit */
  constructor(script: string, args: readonly string[] = [], shell?: string) {
    const words = [script, ...args];
    this.child =
      shell === undefined
        ? spawn(process.execPath, words)
        : spawn('/bin/sh', ['-c', `${shell}; exec "$0" "$@"`, process.execPath, ...words]);
    createInterface({ input: this.child.stdout }).on('line', (line) => this.#hear(line));
    createInterface({ input: this.child.stderr }).on('line', (line) => this.log.push(line));
    // A worker that has ended takes no further line; that is what some tests are about.
    this.child.stdin.on('error', () => {});
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code, signal) => {
        this.#over = true;
        resolve({ code, signal });
        this.#wake();
      });
    });
  }

  send(command: Command): void {
    this.write(`${commandLine(command)}\n`);
  }

  write(text: string): void {
    this.child.stdin.write(text);
  }

  /** The first event of a kind that also `matches`, now or later; rejects when the process ends without one. */
  async heard<Kind extends Event['$case']>(
    kind: Kind,
    matches: (value: EventOf<Kind>) => boolean = () => true,
  ): Promise<EventOf<Kind>> {
    for (;;) {
      const event = this.events.find(({ $case, value }) => $case === kind && matches(value as EventOf<Kind>));
      if (event !== undefined) return event.value as EventOf<Kind>;
      if (this.#over) throw new Error(`no ${kind} came; the log: ${this.log.join('\n')}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** What the stage holds now. */
  async usage(): Promise<StageUsage> {
    this.#asked += 1n;
    const asked = this.#asked;
    this.send({ $case: 'checkHealth', value: { sequence: asked } });
    return (await this.heard('health', ({ sequence }) => sequence === asked)).usage!;
  }

  kinds(): string[] {
    return this.events.map(({ $case }) => $case);
  }

  #hear(line: string): void {
    const parsed = parseMessageLine(WorkerEvent, line);
    if (parsed.kind === 'malformed') throw new Error(`the worker's line ${parsed.problem}`);
    this.events.push(parsed.message.event!);
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
