import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LogTail } from '../../src/agent/log-tail.js';
import { nodeName } from '../../src/agent/node-name.js';
import { suspendClock } from '../../src/agent/suspend-clock.js';
import { foreignWorker } from '../../src/agent/worker-program.js';
import { limits } from '../../src/core/limits.js';
import { isNodeName } from '../../src/core/node-name.js';
import { oddWorker } from './start-agent.js';

describe('a node name', () => {
  it.each([
    ['gpu-a', 'gpu-a'],
    ['My PC.local', 'my-pc'],
    ['--x--', 'x'],
    ['', 'node'],
    ['日本', 'node'],
    [`${'a'.repeat(62)}-b`, 'a'.repeat(62)],
  ])('made of %j is %j', (from, name) => {
    expect(nodeName(from)).toBe(name);
    expect(isNodeName(name)).toBe(true);
  });
});

describe('the tail of a log', () => {
  const tailOf = (...chunks: (string | Buffer)[]) => {
    const tail = new LogTail(3);
    for (const chunk of chunks) tail.push(Buffer.from(chunk));
    return tail.lines();
  };

  it('has the last lines, the open one included', () => {
    expect(tailOf('a\nb\nc', 'c\nd\n\ne')).toEqual(['cc', 'd', 'e']);
  });

  it('cuts a long line, also one that comes in pieces', () => {
    const line = 'x'.repeat(limits.logLineBytes);
    expect(tailOf('x'.repeat(500), 'x'.repeat(500), '\nshort\n')).toEqual([line, 'short']);
  });

  it('stays within the bound whatever the bytes are', () => {
    for (const line of tailOf(Buffer.alloc(2000, 0xff), '\n', `${'é'.repeat(600)}\n`)) {
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(limits.logLineBytes);
    }
  });
});

it("someone's own worker has the build of its files", () => {
  const build = (habit: string) => foreignWorker(oddWorker(habit)).build;
  expect(build('good')).toBe(build('good'));
  expect(build('good')).not.toBe(build('deaf'));
  expect(foreignWorker(['/nowhere/x']).build).toMatch(/^own [0-9a-f]{16}$/);
});

it.runIf(process.platform === 'linux')('the clock of a lease is the one of the kernel that counts sleep', () => {
  // CLOCK_BOOTTIME, in seconds: that of a process would be far behind, and CLOCK_MONOTONIC stands still while a lid is closed.
  const bootTime = () => Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000;
  const before = bootTime();
  const now = suspendClock();
  expect(now).toBeGreaterThanOrEqual(before - 10);
  expect(now).toBeLessThanOrEqual(bootTime() + 10);
});
