import { expect, it } from 'vitest';
import { complaintsAbout, parseExposition } from '../support/exposition.js';

const family = (name: string, type: string, ...samples: string[]) =>
  [`# HELP ${name} Something.`, `# TYPE ${name} ${type}`, ...samples, ''].join('\n');
const histogram = (...counts: number[]) =>
  family(
    'a_seconds',
    'histogram',
    ...['0.1', '1', '+Inf'].map((le, at) => `a_seconds_bucket{le="${le}"} ${counts[at]}`),
    'a_seconds_sum 3',
    `a_seconds_count ${counts[3]}`,
  );

it.each([
  ['a sample without a type', 'a_total 1\n'],
  ['a type after its samples', `${family('a_total', 'counter', 'a_total 1')}# TYPE a_total counter\n`],
  ['a family in two parts', family('a_total', 'counter', 'a_total 1').repeat(2)],
  ['a name that is none', family('a_total', 'counter', 'a-total 1')],
  ['a quote that is not escaped', family('a_total', 'counter', 'a_total{b="c"d"} 1')],
  ['a label twice', family('a_total', 'counter', 'a_total{b="c",b="d"} 1')],
  ['a value that is none', family('a_total', 'counter', 'a_total one')],
  ['a last line that does not end', family('a_total', 'counter', 'a_total 1').trimEnd()],
])('the check of the exposition throws at %s', (_what, text) => {
  expect(() => parseExposition(text)).toThrow();
});

it.each([
  ['a counter without _total', family('a', 'counter', 'a 1')],
  ['a gauge with it', family('a_total', 'gauge', 'a_total 1')],
  ['milliseconds', family('a_milliseconds', 'gauge', 'a_milliseconds 1')],
  ['a series twice', family('a', 'gauge', 'a{b="c",d="e"} 1', 'a{d="e",b="c"} 2')],
  ['a counter below zero', family('a_total', 'counter', 'a_total -1')],
  ['buckets that fall', histogram(2, 1, 3, 3)],
  ['buckets that are not all', histogram(1, 2, 3, 4)],
])('and complains of %s', (_what, text) => {
  expect(complaintsAbout(parseExposition(text))).toHaveLength(1);
});

it('and of nothing that is right', () => {
  const text = histogram(1, 2, 3, 3) + family('a', 'gauge', 'a{b="\\"\\\\\\n"} +Inf', 'a 1e3');
  expect(complaintsAbout(parseExposition(text))).toEqual([]);
  expect(parseExposition(text)[1]?.series[0]).toEqual({
    name: 'a',
    labels: { b: '"\\\n' },
    value: Number.POSITIVE_INFINITY,
  });
});
