import { expect, it } from 'vitest';
import { clockFinding } from '../../src/doctor/checks/clock.js';
import { fileSystemFinding } from '../../src/doctor/checks/file-system.js';
import { freeSpaceFinding } from '../../src/doctor/checks/free-space.js';
import { memoryFinding } from '../../src/doctor/checks/memory.js';
import { nodeVersionFinding } from '../../src/doctor/checks/node-version.js';
import { openFilesFinding } from '../../src/doctor/checks/open-files.js';
import { clockDifference } from '../../src/doctor/checks/orchestrator.js';

const MiB = 1024n ** 2n;
const openFiles = (hard: string) =>
  openFilesFinding(`Limit  Soft Limit  Hard Limit\nMax open files  1024  ${hard}  files\n`);

it.each([
  ['a new Node.js', nodeVersionFinding('22.1.0'), 'ok'],
  ['an old Node.js', nodeVersionFinding('18.20.4'), 'failed'],
  ['a clock that goes', clockFinding(2_000, 1_000), 'ok'],
  ['a clock that was reset', clockFinding(0, 1_700_000_000_000), 'warning'],
  ['a local disk', fileSystemFinding(0xef53, '/data'), 'ok'],
  ['a network share', fileSystemFinding(0x6969, '/data'), 'warning'],
  ['much room', freeSpaceFinding(1024n * 1024n * MiB, false), 'ok'],
  ['little room', freeSpaceFinding(1024n * MiB, false), 'warning'],
  ['no room', freeSpaceFinding(100n * MiB, false), 'failed'],
  ['room without names', freeSpaceFinding(1024n * 1024n * MiB, true), 'failed'],
  ['much memory', memoryFinding(4096n * MiB, 8192n * MiB), 'ok'],
  ['little memory', memoryFinding(512n * MiB, 8192n * MiB), 'warning'],
  ['many open files', openFiles('1048576'), 'ok'],
  ['any number of open files', openFiles('unlimited'), 'ok'],
  ['few open files', openFiles('1024'), 'warning'],
  ['open files of an unknown number', openFilesFinding(''), 'warning'],
  ['an older orchestrator, which tells no time', clockDifference('a:1', undefined, 5), 'ok'],
  ['a clock beside ours', clockDifference('a:1', 100_000, 101_000), 'ok'],
  ['a clock far from ours', clockDifference('a:1', 100_000, 200_000), 'warning'],
])('%s is found %s', (_, finding, kind) => {
  expect(finding.kind).toBe(kind);
  if ('advice' in finding) expect(finding.advice).toMatch(/\w/);
});

it('says in which direction a clock is off', () => {
  expect(clockDifference('a:1', 100_000, 190_000).message).toBe('a:1 answers; its clock is 90.0 s behind this one');
  expect(clockDifference('a:1', 190_000, 100_000).message).toBe('a:1 answers; its clock is 90.0 s ahead of this one');
});
