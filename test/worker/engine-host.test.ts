import { expect, test } from 'vitest';

/** A thread needs JavaScript, so the host comes from what the build made. */
const compiled = new URL('../../dist/src/worker/engine-host.js', import.meta.url).href;
const { EngineHost }: typeof import('../../src/worker/engine-host.js') = await import(compiled);

test('an exception in the engine thread reaches the host as an error, not as a dead process', async () => {
  const error = await new Promise<Error>((resolve) => {
    // No command at all: nothing that the protocol lets through, so the thread fails as a defect would make it.
    new EngineHost(new URL('engine-thread.js', compiled), undefined as never, { onMessage: () => {}, onEnd: resolve });
  });
  expect(error).toBeInstanceOf(Error);
  expect(error.message).toContain('provision');
});
