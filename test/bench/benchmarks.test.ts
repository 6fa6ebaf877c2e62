import { expect, test } from 'vitest';
import { benchmarks, expectFigures } from './benchmark.js';

/** As small as they can be: that they run is what is tested, and nothing is measured. */
const small: [name: string, words: string[], figures: RegExp[]][] = [
  ['store', ['--rounds', '1'], [/^bare .* \d+\/s .* 1\.00 x bare/m, /^commit of 100 rows .* \d+ rows\/s$/m]],
  ['fanout', ['--agents', '3', '--rounds', '1'], [/^join, .* \d+ ms/m, /^stop until DONE +\d+ ms, \d+\.\d\dx$/m]],
  ['edges', ['--rounds', '1'], [/^ +stage loop, 4 processes +\d+ µs a hop/m, /^ +our transport alone, .* goal <= 80/m]],
  ['edges', ['gateways', '--rounds', '1'], [/^ +mutual TLS, one object +\d+ µs/m, /, rate of a stream +\d+\.\d\d/m]],
  [
    'metrics',
    ['--agents', '3', '--scrapes', '3'],
    [/^scrape \d+ runs on all nodes .* max \d/m, /^a scrape has \d+ series/m],
  ],
  ['plan', ['--millis', '1'], [/^1000 nodes, fewest-nodes, .* ms/m, /^4096 stages +\d+ plans\/s/m]],
  ['security', ['--agents', '2', '--rounds', '1'], [/^stop until DONE .* \d+\.\d\dx$/m, /^token to certificate +\d+/m]],
];

test.each(small)('npm run bench:%s -- %j prints its figures', expectFigures);

test('every benchmark is run; that of tokens needs a real model, and runs with those', () => {
  expect(new Set([...small.map(([name]) => name), 'tokens'])).toEqual(new Set(benchmarks));
});
