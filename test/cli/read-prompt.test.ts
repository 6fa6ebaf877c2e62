import { expect, it } from 'vitest';
import { readPrompt } from '../../src/cli/read-prompt.js';
import { limits } from '../../src/core/limits.js';

async function* stdin(...chunks: readonly Buffer[]) {
  yield* chunks;
}

it('takes what is given, and stdin for a dash, whose characters may come in pieces', async () => {
  expect(await readPrompt('a - b', stdin())).toEqual({ kind: 'read', value: 'a - b' });
  const llama = Buffer.from('a 🦙');
  expect(await readPrompt('-', stdin(llama.subarray(0, 4), llama.subarray(4)))).toEqual({
    kind: 'read',
    value: 'a 🦙',
  });
});

it.each([
  ['is empty', stdin()],
  ['is not UTF-8', stdin(Buffer.from([0x68, 0xff]))],
  [`has over ${limits.promptBytes} bytes`, stdin(Buffer.alloc(limits.promptBytes), Buffer.alloc(1))],
])('refuses a prompt on stdin that %s', async (problem, input) => {
  expect(await readPrompt('-', input)).toMatchObject({
    kind: 'refused',
    problem: expect.stringContaining(`the prompt on stdin ${problem}`),
  });
});

it('reads no more than a prompt may have', async () => {
  let read = 0;
  async function* endless() {
    for (;;) {
      read += 65_536;
      yield Buffer.alloc(65_536);
    }
  }
  await readPrompt('-', endless());
  expect(read).toBe(limits.promptBytes + 65_536);
});
