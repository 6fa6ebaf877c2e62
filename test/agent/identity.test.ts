import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadIdentity, saveIdentity } from '../../src/agent/identity.js';
import { temporaryFolder } from '../support/temporary-folder.js';

it('is made once and kept', () => {
  const folder = temporaryFolder();
  const first = loadIdentity(folder, false);
  expect(first).toMatchObject({ kind: 'loaded', identity: { clusterId: '', nodeId: 0n, highestEpoch: 0n } });
  expect(loadIdentity(folder, false)).toEqual(first);
});

it('keeps numbers beyond 2^53', () => {
  const folder = temporaryFolder();
  const identity = { instanceId: 'i', clusterId: 'c', nodeId: 2n ** 60n + 1n, highestEpoch: 2n ** 63n + 1n };
  expect(saveIdentity(folder, identity)).toBeUndefined();
  expect(loadIdentity(folder, false)).toEqual({ kind: 'loaded', identity });
});

it('forgets the cluster on rejoin, on disk as well', () => {
  const folder = temporaryFolder();
  saveIdentity(folder, { instanceId: 'i', clusterId: 'c', nodeId: 9n, highestEpoch: 4n });
  const expected = { kind: 'loaded', identity: { instanceId: 'i', clusterId: '', nodeId: 0n, highestEpoch: 0n } };
  expect(loadIdentity(folder, true)).toEqual(expected);
  expect(loadIdentity(folder, false)).toEqual(expected);
});

it.each([
  '',
  '{',
  'null',
  '[]',
  '{}',
  '{"instanceId":"","clusterId":"c","nodeId":"1","highestEpoch":"1"}',
  '{"instanceId":"i","clusterId":"c","nodeId":"-1","highestEpoch":"1"}',
  '{"instanceId":"i","clusterId":"c","nodeId":"2","highestEpoch":1}',
  '{"instanceId":"i","clusterId":"c","nodeId":"2","highestEpoch":"99999999999999999999"}',
])('that is damaged is refused and left alone: %s', (text) => {
  const folder = temporaryFolder();
  const path = join(folder, 'identity.json');
  writeFileSync(path, text);
  for (const rejoin of [false, true]) {
    expect(loadIdentity(folder, rejoin)).toEqual({
      kind: 'refused',
      message: `${path} is damaged: restore it from a backup, or remove it to join as a new node`,
    });
  }
  expect(readFileSync(path, 'utf8')).toBe(text);
});

it('that cannot be written is told of', () => {
  const identity = { instanceId: 'i', clusterId: 'c', nodeId: 2n, highestEpoch: 1n };
  expect(saveIdentity('/nowhere/at/all', identity)).toContain('/nowhere/at/all');
});
