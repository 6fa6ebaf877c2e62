import { describe, test } from 'vitest';
import { findLlamaPackage } from '../../src/worker/engine/llama/llama-package.js';
import { expectFigures } from '../bench/benchmark.js';

const parts: [part: string, figures: RegExp[]][] = [
  [
    'decode',
    [/3 stages \/ whole model, 1 thread each +\d\.\d\d goal/, /processor for a token, 3 stages x2 .* \d\.\d{3}/],
  ],
  ['hop', [/our transport alone, 4 processes, µs a hop +\d+ goal/]],
  ['conversations', [/small\.gguf, 6 conversations \/ 1 +\d+\.\d\d goal/, /SmolLM2.* 6 conversations/]],
  ['prefill', [/pieces \/ one piece +\d\.\d\d goal/, /p95 gap \/ a micro-batch in one stage +\d+\.\d\d goal/]],
  ['chat', [/second turn \/ first +\d\.\d\d goal/]],
  ['load', [/when its slice is written +\d\.\d\d goal/, /when its slice is there +\d\.\d\d goal/]],
  ['product', [/over Generate \/ whole model .* \d\.\d\d goal/, /kill -9 .* \d+ ms/]],
];

describe.skipIf(findLlamaPackage().kind === 'refused')('npm run bench:tokens', () => {
  test.each(parts)('-- --only %s --rounds 1 prints its figures', (part, figures) =>
    expectFigures('tokens', ['--only', part, '--rounds', '1'], figures),
  );
});
