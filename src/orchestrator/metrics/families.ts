import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

type Labels = Readonly<Record<string, string>>;

/** One series of a family. */
export type Sample = readonly [labels: Labels, value: number];

/**
 * A family of counters that are kept as plain numbers where the counting is done, which costs an addition, and are read
 * when somebody asks for them. Every series that may be there is there from the start: a rate needs a beginning.
 */
export function addCounter<Label extends string>(
  registry: Registry,
  { name, help, labelNames, read }: { name: string; help: string; labelNames: Label[]; read: () => Iterable<Sample> },
): void {
  new Counter<string>({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const [labels, value] of read()) this.inc(labels, value);
    },
  });
}

/** A counter without labels. */
export function addTotal(registry: Registry, name: string, help: string, read: () => number): void {
  addCounter(registry, { name, help, labelNames: [], read: () => [[{}, read()]] });
}

/** A gauge without labels. */
export function addLevel(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

/** A gauge that whoever has looked at the world sets. */
export function newGauge(registry: Registry, name: string, help: string, labelNames: string[]): Gauge<string> {
  return new Gauge({ name, help, labelNames, registers: [registry] });
}

/** @param buckets upper bounds in seconds */
export function newDurations(
  registry: Registry,
  { name, help, buckets, labelNames = [] }: { name: string; help: string; buckets: number[]; labelNames?: string[] },
): Histogram<string> {
  return new Histogram({ name, help, buckets, labelNames, registers: [registry] });
}
