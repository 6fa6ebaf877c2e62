/**
 * A family of gauges with a series for each of many things, written as text straight away: what the library does to keep
 * and format thousands of series takes ten times as long, on the thread of the loop.
 */
export class GaugeText {
  private readonly head: string;
  private lines = '';

  constructor(
    private readonly name: string,
    help: string,
  ) {
    this.head = `# HELP ${name} ${help}\n# TYPE ${name} gauge\n`;
  }

  /** @param labels as `labelText` gives them */
  add(labels: string, value: number): void {
    this.lines += `${this.name}${labels} ${value}\n`;
  }

  /** What was added since the last time. */
  take(): string {
    const text = this.head + this.lines;
    this.lines = '';
    return text;
  }
}

/** `{node="alpha",device="cpu"}` */
export function labelText(labels: Readonly<Record<string, string>>): string {
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')}}`;
}

function escaped(value: string): string {
  return /[\\"\n]/.test(value) ? value.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n') : value;
}
