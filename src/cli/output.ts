import type { ExitCode } from './exit-code.js';
import type { Failure, Violation } from './failure.js';
import { escapeControls, escapeText } from './format/escape.js';
import { safeJson } from './format/safe-json.js';

export interface OutputOptions {
  readonly json: boolean;
  /** Whether stdout is a terminal. */
  readonly terminal: boolean;
  /** Whether stdout is a terminal that understands escape sequences and may get them. */
  readonly live: boolean;
}

/** Where a command's answers (stdout) and complaints (stderr) go. */
export class Output {
  constructor(
    private readonly stdout: NodeJS.WritableStream,
    private readonly stderr: NodeJS.WritableStream,
    private readonly options: OutputOptions,
  ) {}

  get json(): boolean {
    return this.options.json;
  }

  get terminal(): boolean {
    return this.options.terminal;
  }

  get live(): boolean {
    return this.options.live;
  }

  /** Text for people; whatever came from elsewhere in it must be escaped already. */
  print(text: string): void {
    this.stdout.write(`${text}\n`);
  }

  /** A piece of a model's text, without a line end of its own. Only a terminal has to be protected from it. */
  text(text: string): void {
    this.stdout.write(this.options.terminal ? escapeText(text) : text);
  }

  /** Text for people beside an answer that may be on its way into a file. */
  aside(text: string): void {
    this.stderr.write(`${text}\n`);
  }

  /** The same output for people with everything beside the answer. */
  get besides(): Output {
    return new Output(this.stderr, this.stderr, { ...this.options, live: false });
  }

  /** The one JSON document of a command. */
  document(value: unknown): void {
    this.stdout.write(`${safeJson(value, 2)}\n`);
  }

  /** One of many JSON objects, on one line. */
  jsonLine(value: unknown): void {
    this.stdout.write(`${safeJson(value)}\n`);
  }

  /** Something worth knowing that ends nothing. */
  note(reason: string, message: string): void {
    if (this.json) this.stderr.write(`${safeJson({ code: 'OK', reason, message, violations: [] })}\n`);
    else this.stderr.write(`stageplane: ${escapeControls(message)}\n`);
  }

  /** Shows a failure and gives its exit code, so that a command can end with `return output.fail(...)`. */
  fail({ exitCode, code, reason, message, violations, details = [] }: Failure): ExitCode {
    if (this.json) {
      this.stderr.write(`${safeJson({ code, reason, message, violations })}\n`);
      return exitCode;
    }
    const listed = saysItAll(message, violations) ? [] : violations.map(asLine);
    const indented = [...listed, ...details].map((line) => `  ${escapeControls(line)}\n`);
    this.stderr.write(`stageplane: ${escapeControls(message)}\n${indented.join('')}`);
    return exitCode;
  }
}

function asLine({ field, message }: Violation): string {
  return field ? `${field}: ${message}` : message;
}

/** One violation that the sentence already has in it need not be said again. */
function saysItAll(message: string, violations: readonly Violation[]): boolean {
  return violations.length === 1 && message.includes(violations[0]?.message ?? '');
}
