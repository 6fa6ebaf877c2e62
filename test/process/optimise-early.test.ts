import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('./calls-until-optimised.mjs', import.meta.url));
const flags = ['--allow-natives-syntax', '--no-concurrent-recompilation'];

function callsUntilOptimised(when: 'early' | 'as usual'): number {
  return Number(execFileSync(process.execPath, [...flags, program, when], { encoding: 'utf8' }));
}

test('a function is compiled for speed after a tenth of the calls, also one that ran before', () => {
  expect(callsUntilOptimised('early') * 10).toBeLessThan(callsUntilOptimised('as usual'));
});
