import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  defaultEdgeRoutes,
  type EdgeFlags,
  openNodeGateway,
  removeOwnFolder,
} from '../../src/edge-gateway/open-node-gateway.js';
import { edgeRuntimeFolder, nodeSocket, ownEdgeFolder, stageSocket } from '../../src/edge-gateway/runtime-folder.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { consumer, consumingStage, contract, producer, producingStage, register, until } from './edge-ends.js';

const CLUSTER = 'c0ffee00-1111-4222-8333-444444444444';

beforeEach(() => {
  vi.stubEnv('XDG_RUNTIME_DIR', temporaryFolder());
  return () => void vi.unstubAllEnvs();
});

function attempt(nodeId: bigint, flags: EdgeFlags = {}) {
  return openNodeGateway({ flags, ownerId: `owner ${nodeId}`, node: { clusterId: CLUSTER, nodeId }, onNote: () => {} });
}

async function open(nodeId: bigint, flags?: EdgeFlags) {
  const opened = await attempt(nodeId, flags);
  if (opened.kind === 'refused') throw new Error(opened.message);
  onTestFinished(() => opened.gateway.close());
  return opened.gateway;
}

describe('nodes of one machine', () => {
  test('meet in a folder that is this user’s alone, without a flag, and leave nothing in it', async () => {
    const [two, three] = [await open(2n), await open(3n)];
    const socket = stageSocket(ownEdgeFolder('owner 3'), { runId: 7n, stageIndex: 1, generation: 3 });
    register(two, producingStage(contract));
    register(three, consumingStage(contract, socket));
    const { seen: taken } = await consumer(socket);
    const { seen: given } = producer(two.localSocket);
    await until(() => taken.ready + given.ready === 2);
    const shared = edgeRuntimeFolder(CLUSTER);
    expect(shared).toMatch(/\/stageplane-\d+\/c0ffee00$/);
    expect(readdirSync(shared).sort()).toEqual(['2.sock', '3.sock']);
    for (const folder of [dirname(shared), shared]) expect(statSync(folder).mode & 0o777).toBe(0o700);
    await two.close();
    removeOwnFolder('owner 2');
    expect(readdirSync(dirname(shared)).sort()).not.toContain(ownEdgeFolder('owner 2'));
    expect(readdirSync(shared)).toEqual(['3.sock']);
  });

  test('are asked in the template’s place only where no address says otherwise', () => {
    const node = { clusterId: CLUSTER, nodeId: 2n };
    const folder = edgeRuntimeFolder(CLUSTER);
    const listen = `unix:${nodeSocket(folder, 2n)}`;
    const template = `unix:${folder}/{node_id}.sock`;
    expect(defaultEdgeRoutes({ addresses: ['1=server:7400'] }, node)).toEqual({
      addresses: ['1=server:7400'],
      listen,
      template,
    });
    expect(defaultEdgeRoutes({ template: 'node-{node_id}:7400' }, node)).toEqual({
      listen,
      template: 'node-{node_id}:7400',
    });
    expect(defaultEdgeRoutes({ listen: '127.0.0.1:7400' }, node)).toEqual({ listen: '127.0.0.1:7400' });
  });

  test('are told of a node that nobody named, once they listen where they were told to', async () => {
    const gateway = await open(2n, { listen: '127.0.0.1:0' });
    expect(gateway.register(producingStage(contract))).toMatchObject({ kind: 'refused', reason: 'UNKNOWN_NODE' });
  });

  test('have names that no path can hide in', () => {
    expect(edgeRuntimeFolder('../../etc')).toMatch(/\/stageplane-\d+\/[0-9a-f]{8}$/);
  });
});

describe('what an owner who was killed has left', () => {
  test('is removed by the next one, and by nobody else', async () => {
    const own = ownEdgeFolder('owner 2');
    const gateway = await open(2n);
    writeFileSync(join(own, '1-7-0-1.sock'), '');
    expect(await attempt(2n)).toMatchObject({ reason: 'LISTEN_FAILED' });
    expect(readdirSync(own).sort()).toEqual(['1-7-0-1.sock', 'local.sock']);
    await gateway.close();
    await open(2n);
    expect(readdirSync(own)).toEqual(['local.sock']);
  });
});

describe('is refused', () => {
  /** The folder that all others lie in. */
  const top = () => dirname(edgeRuntimeFolder(CLUSTER));

  test('a folder that is a link', async () => {
    symlinkSync(temporaryFolder(), top());
    expect(await attempt(2n)).toMatchObject({
      reason: 'RUNTIME_FOLDER',
      message: expect.stringContaining(`${top()}, is a link or a file`),
    });
  });

  test('a folder that others may write to', async () => {
    mkdirSync(top());
    chmodSync(top(), 0o777);
    expect(await attempt(2n)).toMatchObject({ message: expect.stringContaining('run chmod 700') });
  });

  test.runIf(process.getuid?.() === 0)('a folder of another user', async () => {
    mkdirSync(top(), { mode: 0o700 });
    chownSync(top(), 12_345, 12_345);
    expect(await attempt(2n)).toMatchObject({ message: expect.stringContaining('belongs to another user') });
  });

  test('a folder whose path is too long for a socket', async () => {
    vi.stubEnv('XDG_RUNTIME_DIR', join(temporaryFolder(), 'x'.repeat(80)));
    expect(await attempt(2n)).toMatchObject({
      reason: 'RUNTIME_FOLDER',
      message: expect.stringMatching(/has \d+ bytes, 99 at most are possible: set XDG_RUNTIME_DIR to a shorter one$/),
    });
  });

  test('a folder that cannot be made', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    vi.stubEnv('XDG_RUNTIME_DIR', file);
    expect(await attempt(2n)).toMatchObject({ message: expect.stringContaining('cannot be made (ENOTDIR') });
  });
});
