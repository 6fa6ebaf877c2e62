import { describe, expect, it } from 'vitest';
import { DeviceKind } from '../../../gen/stageplane/v1/node.js';
import { deviceSpeed, stageSeconds } from '../../../src/core/model/device-speed.js';
import { knownDevices } from '../../../src/core/model/known-devices.js';
import { headsOf, known, sampleInspection } from './samples.js';

const { DEVICE_KIND_GPU: GPU, DEVICE_KIND_CPU: CPU } = DeviceKind;
const peak = (name: string, kind = GPU) => deviceSpeed({ name, kind }).bytesPerSecond / 0.7e9;

describe('a device', () => {
  it.each([
    ['NVIDIA GeForce RTX 4090', 1008],
    ['NVIDIA GeForce RTX 4070 Ti SUPER', 672],
    ['NVIDIA GeForce RTX 4070 Ti', 504],
    ['NVIDIA GeForce RTX 3060', 360],
    ['NVIDIA A100-PCIE-40GB', 1555],
    ['NVIDIA A100-SXM4-80GB', 1935],
    ['NVIDIA H100 80GB HBM3', 3350],
    ['NVIDIA H100 PCIe', 2000],
    ['NVIDIA L4', 300],
    ['AMD Radeon RX 7900 XTX', 960],
    ['AMD Instinct MI300X', 5300],
  ])('named %s is in the table', (name, bandwidth) => {
    expect(peak(name)).toBeCloseTo(bandwidth);
    expect(deviceSpeed({ name, kind: GPU }).profilingRequired).toBe(false);
  });

  it('of a chip with shared memory is as fast under the name of its processor', () => {
    expect(peak('Apple M1 Max', CPU)).toBeCloseTo(400);
    expect(peak('Apple M4', CPU)).toBeCloseTo(120);
  });

  it.each([
    ['NVIDIA GeForce RTX 4090 Laptop GPU', GPU, 250],
    ['NVIDIA GeForce RTX 2080 with Max-Q Design', GPU, 250],
    ['Some Card L40', GPU, 250],
    ['', GPU, 250],
    ['AMD Ryzen 9 7950X 16-Core Processor', CPU, 51.2],
    ['', CPU, 51.2],
  ])('named "%s" is taken for an ordinary one, to be measured', (name, kind, bandwidth) => {
    expect(peak(name, kind)).toBeCloseTo(bandwidth);
    const speed = deviceSpeed({ name, kind });
    expect(speed.profilingRequired).toBe(true);
    expect(speed.note).toContain(`${bandwidth} GB/s of memory bandwidth is assumed`);
  });

  it('is in the table once, and found there by its own words', () => {
    expect(new Set(knownDevices.map(({ words }) => words)).size).toBe(knownDevices.length);
    for (const { words, bandwidth } of knownDevices) expect(peak(words)).toBeCloseTo(bandwidth);
  });
});

describe('a token', () => {
  it('takes as long as its weights take to read', () => {
    const speed = deviceSpeed({ name: 'NVIDIA GeForce RTX 3090', kind: GPU });
    expect(stageSeconds(0.7 * 936e9, speed)).toBeCloseTo(1);
    expect(stageSeconds(0, speed)).toBe(0);
  });

  const four = Array.from({ length: 4 }, () => headsOf(4, 2, 16));
  const model = (sample: object) => known(sampleInspection({ attention: four, ...sample }));

  it('reads all layers of a stage, and the head on the last one, tied or not', () => {
    expect(model({}).readPerToken(0, 2)).toBe(1000 + 2000);
    expect(model({}).readPerToken(2, 4)).toBe(3000 + 4000 + 7000);
    expect(model({ tied: true }).readPerToken(2, 4)).toBe(3000 + 4000 + 7000 + 50_000);
  });

  it('reads of the experts only those that compute it', () => {
    const expertBytes = [0n, 1600n, 1600n, 1600n];
    const of = (inspection: object) => model({ expertBytes, inspection }).readPerToken(0, 2);
    expect(of({ expertCount: 8, expertsUsed: 2 })).toBe(1000 + 400 + 400);
    // A file that does not say how many is read whole.
    expect(of({ expertCount: 8, expertsUsed: 0 })).toBe(1000 + 2000);
  });
});
