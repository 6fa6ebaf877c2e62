import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  GenerateText,
  type TextDone,
  TokenEndpointCommand,
  TokenEndpointEvent,
} from '../../gen/stageplane/v1/token_endpoint.js';
import { parseMessageLine } from '../../src/worker/parse-message-line.js';

type Event = NonNullable<TokenEndpointEvent['event']>;
type Command = NonNullable<TokenEndpointCommand['command']>;
type EventOf<Kind extends Event['$case']> = Extract<Event, { $case: Kind }>['value'];

export interface WholeAnswer {
  readonly text: string;
  readonly tokenIds: readonly number[];
  readonly done: TextDone;
}

/** The compiled endpoint, as an orchestrator would start it. */
const endpointMain = fileURLToPath(new URL('../../dist/src/token-endpoint/main.js', import.meta.url));

/** A token endpoint process from its orchestrator's side. */
export class EndpointProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** Everything that it said, in order. */
  readonly events: Event[] = [];
  readonly log: string[] = [];
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  #waiting: (() => void)[] = [];
  #over = false;

  constructor() {
    this.child = spawn(process.execPath, [endpointMain]);
    createInterface({ input: this.child.stdout }).on('line', (line) => this.#hear(line));
    createInterface({ input: this.child.stderr }).on('line', (line) => this.log.push(line));
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
    this.write(`${JSON.stringify(TokenEndpointCommand.toJSON({ command }))}\n`);
  }

  write(text: string): void {
    this.child.stdin.write(text);
  }

  generate(requestId: string, prompt: string, more: Partial<GenerateText> = {}): void {
    this.send({ $case: 'generate', value: GenerateText.fromPartial({ requestId, prompt, ...more }) });
  }

  /** The answer to a prompt, when it is over; acknowledges nothing. */
  async answer(requestId: string, prompt: string, more: Partial<GenerateText> = {}): Promise<WholeAnswer> {
    this.generate(requestId, prompt, more);
    const done = await this.heard('done', (value) => value.requestId === requestId);
    const deltas = this.events.flatMap((event) =>
      event.$case === 'delta' && event.value.requestId === requestId ? [event.value] : [],
    );
    return {
      text: deltas.map(({ text }) => text).join(''),
      tokenIds: deltas.flatMap(({ tokenIds }) => tokenIds),
      done,
    };
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

  #hear(line: string): void {
    const parsed = parseMessageLine(TokenEndpointEvent, line);
    if (parsed.kind === 'malformed') throw new Error(`the endpoint's line ${parsed.problem}`);
    this.events.push(parsed.message.event!);
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
