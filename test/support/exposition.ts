/** One series and its value. */
export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly series: readonly Series[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const VALUE = /^(?:[+-]Inf|NaN|[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)$/;

/**
 * Reads the text format of Prometheus as strictly as its own parser: HELP and TYPE come once, before the samples of their
 * family, which come together. Throws an error that names the line.
 */
export function parseExposition(text: string): Family[] {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, { name: string; help: string; type: string; series: Series[] }>();
  let current: { name: string; help: string; type: string; series: Series[] } | undefined;
  for (const [at, line] of text.slice(0, -1).split('\n').entries()) {
    const fail = (why: string): never => {
      throw new Error(`line ${at + 1}, ${why}: ${line}`);
    };
    if (line === '') continue;
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      if (families.has(name)) fail('the family was there before');
      if (/\\(?![\\n])/.test(rest)) fail('a backslash that escapes nothing');
      current = { name, help: rest, type: '', series: [] };
      families.set(name, current);
    } else if (keyword === 'TYPE') {
      if (current?.name !== name || current.type !== '' || current.series.length > 0)
        fail('TYPE does not follow its HELP');
      if (!['counter', 'gauge', 'histogram', 'summary'].includes(rest)) fail('no such type');
      if (current) current.type = rest;
    } else if (line.startsWith('#')) {
      fail('neither HELP nor TYPE');
    } else {
      const series = parseSample(line) ?? fail('no sample');
      if (!current?.type) return fail('a sample without a TYPE');
      if (!namesOf(current).includes(series.name)) fail(`a sample among those of ${current.name}`);
      current.series.push(series);
    }
  }
  return [...families.values()];
}

function namesOf({ name, type }: { name: string; type: string }): string[] {
  if (type === 'histogram') return [`${name}_bucket`, `${name}_sum`, `${name}_count`];
  if (type === 'summary') return [name, `${name}_sum`, `${name}_count`];
  return [name];
}

function parseSample(line: string): Series | undefined {
  const [, name = '', inner, value = ''] = /^([^\s{]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (!NAME.test(name) || !VALUE.test(value)) return undefined;
  const labels: Record<string, string> = {};
  let rest = inner ?? '';
  while (rest !== '') {
    const [whole, label = '', text = ''] = /^([^=,{}"]+)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/.exec(rest) ?? [];
    if (whole === undefined || !LABEL_NAME.test(label) || label in labels) return undefined;
    labels[label] = text.replace(/\\(.)/g, (_all, char) => (char === 'n' ? '\n' : char));
    rest = rest.slice(whole.length);
  }
  return { name, labels, value: value.endsWith('Inf') ? Number(`${value}inity`) : Number(value) };
}

/** The value of a series, by its name and labels as Prometheus writes them. */
export function seriesValue(families: readonly Family[], selector: string): number | undefined {
  const [, name, inner = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(selector) ?? [];
  const wanted = Object.fromEntries([...inner.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => [label, value]));
  const found = families
    .flatMap(({ series }) => series)
    .find(
      (one) =>
        one.name === name &&
        JSON.stringify(Object.entries(one.labels).sort()) === JSON.stringify(Object.entries(wanted).sort()),
    );
  return found?.value;
}

/** What `promtool check metrics` complains of, and what a scrape would not take. */
export function complaintsAbout(families: readonly Family[]): string[] {
  return families.flatMap((family) => [
    ...aboutName(family),
    ...aboutSeries(family),
    ...(family.type === 'histogram' ? aboutBuckets(family) : []),
  ]);
}

const FOREIGN_UNITS =
  /(?:^|_)(?:milliseconds|millis|ms|microseconds|micros|minutes|hours|days|kilobytes|megabytes|kb|mb|gb|percent|bits)(?:_|$)/;

function aboutName({ name, help, type, series }: Family): string[] {
  const complaints: string[] = [];
  const complain = (condition: boolean, why: string) => condition && complaints.push(`${name}: ${why}`);
  complain(help === '', 'no help');
  complain(type === '', 'no type');
  complain(series.length === 0 && type !== 'counter', 'no series');
  complain((type === 'counter') !== name.endsWith('_total'), `a ${type} whose name says otherwise`);
  complain(/_(?:count|sum|bucket)$/.test(name), 'a name that is kept for parts of histograms');
  complain(/[a-z][A-Z]/.test(name) || name.includes(':'), 'not in snake_case');
  complain(FOREIGN_UNITS.test(name), 'not in base units');
  complain(new RegExp(`_${type}(?:_|$)`).test(name), 'its type is in its name');
  return complaints;
}

function aboutSeries({ name, type, series }: Family): string[] {
  const seen = new Set<string>();
  return series.flatMap((one) => {
    const identity = `${one.name} ${JSON.stringify(Object.entries(one.labels).sort())}`;
    const complaints: string[] = [];
    if (seen.has(identity)) complaints.push(`${identity}: twice`);
    seen.add(identity);
    if (type === 'counter' && !(one.value >= 0)) complaints.push(`${identity}: counts ${one.value}`);
    if (type !== 'histogram' && 'le' in one.labels) complaints.push(`${name}: a label that is kept for histograms`);
    return complaints;
  });
}

function aboutBuckets({ name, series }: Family): string[] {
  const groups = new Map<string, Series[]>();
  for (const one of series) {
    const { le: _le, ...labels } = one.labels;
    const key = JSON.stringify(Object.entries(labels).sort());
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups].flatMap(([key, group]) => {
    const buckets = group.filter((one) => one.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => (labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le)));
    const count = group.find((one) => one.name === `${name}_count`)?.value;
    const rises = (numbers: number[], strictly: boolean) =>
      numbers.every((number, at) => at === 0 || (strictly ? number > numbers[at - 1]! : number >= numbers[at - 1]!));
    const isSound =
      rises(bounds, true) &&
      rises(
        buckets.map(({ value }) => value),
        false,
      ) &&
      bounds.at(-1) === Number.POSITIVE_INFINITY &&
      buckets.at(-1)?.value === count &&
      group.some((one) => one.name === `${name}_sum`);
    return isSound ? [] : [`${name} ${key}: buckets that do not add up`];
  });
}

/** Everything that `/metrics` says, which answers as it should. */
export async function scrape(httpUrl: string | undefined): Promise<Family[]> {
  const response = await fetch(`${httpUrl}/metrics`);
  const type = response.headers.get('content-type');
  if (response.status !== 200 || type !== 'text/plain; version=0.0.4; charset=utf-8') {
    throw new Error(`status ${response.status}, ${type}`);
  }
  return parseExposition(await response.text());
}

/** All series of a family together. */
export function seriesSum(families: readonly Family[], name: string): number {
  const series = families.find((family) => family.name === name)?.series ?? [];
  return series.reduce((sum, { value }) => sum + value, 0);
}
