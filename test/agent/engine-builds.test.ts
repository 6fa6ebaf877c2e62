import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { engineBuilds } from '../../src/agent/engine-builds.js';
import { foreignWorker, ownWorker } from '../../src/agent/worker-program.js';
import { version } from '../../src/version.js';
import { findLlamaPackage } from '../../src/worker/engine/llama/llama-package.js';

const hasLlama = findLlamaPackage().kind === 'found';

describe('the builds of engines', () => {
  it.runIf(hasLlama)('of our own worker name the kernels that this machine takes', async () => {
    const builds = await engineBuilds(ownWorker(), ['fixture', 'llama.cpp']);
    expect(builds.get('fixture')).toBe(`stageplane ${version}, fixture 1`);
    expect(builds.get('llama.cpp')).toMatch(/^stageplane \S+, llama\.cpp v0\.4\.0 linux-x64 [a-z0-9]+, glibc 2\.\d+$/);
    expect(await engineBuilds(ownWorker(), ['llama.cpp'])).toEqual(new Map([['llama.cpp', builds.get('llama.cpp')]]));
  });

  it("of someone's own worker are its files", async () => {
    const program = foreignWorker(['/usr/bin/env', 'worker']);
    expect(await engineBuilds(program, ['mine'])).toEqual(new Map([['mine', program.build]]));
  });

  it.each([
    ['fails', 'process.exit(1)'],
    ['says nothing that can be read', 'console.log("{")'],
    ['does not know the engine', 'console.log("{}")'],
  ])('that cannot be told are of this machine alone: one that %s', async (_, script) => {
    const program = { ...ownWorker(), tellBuilds: [process.execPath, '-e', script] };
    const builds = await engineBuilds(program, ['fixture']);
    expect(builds.get('fixture')).toBe(`stageplane ${version}, unknown kernels of ${hostname()}`);
  });
});
