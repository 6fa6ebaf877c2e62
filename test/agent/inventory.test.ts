import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { StageFeature } from '../../gen/stageplane/v1/node.js';
import { StageDelivery } from '../../gen/stageplane/v1/node_agent_service.js';
import { describeMachine, offerEngines } from '../../src/agent/inventory.js';
import { nvidiaGpus } from '../../src/agent/nvidia-gpus.js';
import { outputOf } from '../../src/agent/output-of.js';
import { countCores } from '../../src/agent/physical-cores.js';
import { parseStatus } from '../../src/agent/resident-memory.js';
import { UsageMeter } from '../../src/agent/usage-meter.js';
import { runId } from '../../src/core/ids.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const MIB = 1024n ** 2n;

/** Puts a program of that name before all others. */
function fakeProgram(name: string, script: string): void {
  const folder = temporaryFolder();
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`);
  onTestFinished(() => void vi.unstubAllEnvs());
}

describe.skipIf(process.platform === 'win32')('GPUs', () => {
  it('are read from nvidia-smi', async () => {
    fakeProgram(
      'nvidia-smi',
      'test "$1" = --query-gpu=index,name,memory.total,memory.free || exit 1\n' +
        'echo "0, NVIDIA GeForce RTX 4090, 24564, 24080"; echo "1, Odd, Name, 8192, [N/A]"; echo "2, Spark, [N/A], 5"; echo oops',
    );
    expect(await nvidiaGpus()).toMatchObject([
      { deviceId: 'cuda:0', name: 'NVIDIA GeForce RTX 4090', totalBytes: 24564n * MIB, freeBytes: 24080n * MIB },
      { deviceId: 'cuda:1', name: 'Odd, Name', totalBytes: 8192n * MIB, freeBytes: 0n },
      { deviceId: 'cuda:2', name: 'Spark', totalBytes: 0n, freeBytes: 0n },
    ]);
  });

  it.each([
    ['a driver that fails', 'echo "0, X, 1, 1"; exit 9'],
    ['a driver that talks nonsense', 'echo "No devices were found"'],
  ])('are none with %s', async (_, script) => {
    fakeProgram('nvidia-smi', script);
    expect(await nvidiaGpus()).toEqual([]);
  });

  it('of a driver that never answers are none', async () => {
    fakeProgram('nvidia-smi', 'exec sleep 1000');
    expect(await outputOf('nvidia-smi', [], 20)).toBeUndefined();
    expect(await outputOf('no-such-program', [], 20)).toBeUndefined();
  });
});

describe('a machine', () => {
  it('is described with its memory and cores', async () => {
    const machine = await describeMachine('0.1.0', { room: 'lab' });
    const [memory] = machine.devices;
    expect(memory?.deviceId).toBe('cpu');
    expect(memory?.totalBytes).toBeGreaterThan(0n);
    expect(memory?.freeBytes).toBeLessThanOrEqual(memory?.totalBytes ?? 0n);
    expect(machine.physicalCores).toBeGreaterThan(0);
    expect(machine).toMatchObject({
      operatingSystem: process.platform,
      agentVersion: '0.1.0',
      labels: { room: 'lab' },
    });
  });

  it('counts cores, not threads', () => {
    const thread = (socket: number, core: number) =>
      `processor : 1\nphysical id\t: ${socket}\ncore id\t\t: ${core}\nflags : a\n`;
    expect(countCores([thread(0, 0), thread(0, 1), thread(0, 0), thread(1, 0)].join('\n'))).toBe(3);
    expect(countCores('processor : 0\nCPU part : 0xd0c\n')).toBeUndefined();
  });

  it('offers our own engines in RAM, and others everywhere', async () => {
    const { devices } = await describeMachine('0', {});
    const all = [...devices, { ...devices[0]!, deviceId: 'cuda:0' }];
    const builds = new Map([
      ['fixture', 'b1'],
      ['llama.cpp', 'b2'],
      ['other', 'b3'],
    ]);
    expect(offerEngines(builds, all, [StageFeature.STAGE_FEATURE_SAMPLING, 99 as StageFeature])).toEqual([
      { name: 'fixture', build: 'b1', deviceIds: ['cpu'], features: [StageFeature.STAGE_FEATURE_SAMPLING] },
      { name: 'llama.cpp', build: 'b2', deviceIds: ['cpu'], features: [StageFeature.STAGE_FEATURE_SAMPLING] },
      { name: 'other', build: 'b3', deviceIds: ['cpu', 'cuda:0'], features: [StageFeature.STAGE_FEATURE_SAMPLING] },
    ]);
  });
});

describe('usage', () => {
  it('counts what a process holds for itself, not the pages that it maps', () => {
    expect(parseStatus('VmRSS:\t  900 kB\nRssAnon:\t  100 kB\nRssFile:\t  780 kB\nRssShmem:\t   20 kB\n')).toBe(
      120n * 1024n,
    );
    expect(parseStatus('VmRSS:\t  900 kB\n')).toBe(900n * 1024n);
    expect(parseStatus('Name: x\n')).toBeUndefined();
  });

  const stageOn = (device: string) => ({
    key: { runId: runId(1n), stageIndex: 0, generation: 1 },
    phase: 'READY' as const,
    delivery: StageDelivery.fromPartial({ settings: { device } }),
    modelPath: '/m',
    worker: 'alive' as const,
    footprint: { bytesRead: 1n, bytesDigest: '', deviceBytes: 33n, hostBytes: 44n },
  });

  it('of a GPU is what its workers measured', async () => {
    fakeProgram('nvidia-smi', 'exit 1');
    const { devices } = await describeMachine('0', {});
    const meter = new UsageMeter();
    meter.describe([devices[0]!, { ...devices[0]!, deviceId: 'cuda:0', freeBytes: 50n }]);
    const stages = new Map([['s', stageOn('cuda:0')]]);
    const measured = meter.measure(stages, new Map([['s', process.pid]]));
    const [cpu, gpu] = measured.devices;
    expect(gpu).toEqual({ deviceId: 'cuda:0', freeBytes: 50n, residentBytes: 33n });
    expect(cpu?.residentBytes).toBeGreaterThan(33n);
    expect(measured.residentBytes).toEqual(new Map([['s', 33n]]));
    expect(meter.measure(stages, new Map()).devices[1]?.residentBytes).toBe(0n);
  });

  it('of a stage in RAM is what its process holds there now, or what it measured where the system does not say', () => {
    const meter = new UsageMeter();
    const stages = new Map([['s', stageOn('cpu')]]);
    const ofProcess = (pid: number) => meter.measure(stages, new Map([['s', pid]]));
    const { devices, residentBytes } = ofProcess(process.pid);
    expect(residentBytes.get('s')).toBeGreaterThan(process.platform === 'linux' ? 1n << 20n : 0n);
    expect(residentBytes.get('s')).toBe(devices[0]?.residentBytes);
    const noProcess = 2 ** 30;
    expect(ofProcess(noProcess).residentBytes.get('s')).toBe(44n);
  });

  it('of a worker without a stage is no stage', () => {
    const { devices, residentBytes } = new UsageMeter().measure(new Map(), new Map([['s', process.pid]]));
    expect(residentBytes.size).toBe(0);
    expect(devices[0]?.residentBytes).toBeGreaterThan(process.platform === 'linux' ? 0n : -1n);
  });
});

describe('RAM that is kept to a size', () => {
  it('is all that there is for stages, less what they hold', async () => {
    const { devices } = await describeMachine('0', {}, 64n * MIB);
    expect(devices[0]).toMatchObject({ totalBytes: 64n * MIB, freeBytes: 64n * MIB });
    const meter = new UsageMeter(4096n * MIB);
    meter.describe(devices);
    const free = (pids: ReadonlyMap<string, number>) => meter.measure(new Map(), pids).devices[0]!;
    expect(free(new Map()).freeBytes).toBe(4096n * MIB);
    const busy = free(new Map([['s', process.pid]]));
    expect(busy.freeBytes).toBe(4096n * MIB - busy.residentBytes);
    expect(new UsageMeter(1n).measure(new Map(), new Map([['s', process.pid]])).devices[0]!.freeBytes).toBe(0n);
  });
});
