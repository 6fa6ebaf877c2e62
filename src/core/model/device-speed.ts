import { DeviceKind } from '../../../gen/stageplane/v1/node.js';
import { type KnownDevice, knownDevices } from './known-devices.js';

export interface DeviceSpeed {
  /** Bytes per second at which a stage reads its weights. */
  readonly bytesPerSecond: number;
  /** Dense 16-bit operations per second. */
  readonly flops: number;
  /** True for a device that is in no table: only measuring it says more. */
  readonly profilingRequired: boolean;
  /** One sentence: where the numbers are from. */
  readonly note: string;
}

/** Share of the peak bandwidth that decoding was measured to reach, on processors and GPUs alike. */
const REACHED = 0.7;

/** Of a processor: two channels of DDR4-3200, which most machines of the last years have at least. */
const ordinaryCpu = { bandwidth: 51.2, tflops: 0.5 };
/** Of a GPU: an entry-level card of the last years. */
const ordinaryGpu = { bandwidth: 250, tflops: 15 };

/** Words of a GPU that is built into something smaller, and slower than the card that it is named after. */
const slowerBuilds = ['laptop', 'mobile', 'max-q'];

/** How fast a device is, by its name; an ordinary one of its kind when nobody knows it. */
export function deviceSpeed(device: { readonly name: string; readonly kind: DeviceKind }): DeviceSpeed {
  const found = knownDevice(device.name);
  const isGpu = device.kind === DeviceKind.DEVICE_KIND_GPU;
  const { bandwidth, tflops } = found ?? (isGpu ? ordinaryGpu : ordinaryCpu);
  return {
    bytesPerSecond: REACHED * bandwidth * 1e9,
    flops: tflops * 1e12,
    profilingRequired: found === undefined,
    note:
      found === undefined
        ? `nobody knows this ${isGpu ? 'GPU' : 'processor'}: ${bandwidth} GB/s of memory bandwidth is assumed`
        : `${bandwidth} GB/s of memory bandwidth as specified for ${found.words}, of which ${REACHED} is reached`,
  };
}

/** Seconds that a stage takes to read so many bytes of weights, which is what one token takes. */
export function stageSeconds(bytesReadPerToken: number, speed: DeviceSpeed): number {
  return bytesReadPerToken / speed.bytesPerSecond;
}

/** Taken apart once: a pool has a thousand devices. */
const mostWordsFirst = knownDevices
  .map((device) => ({ device, parts: device.words.split(' ') }))
  .toSorted((a, b) => b.parts.length - a.parts.length);

/** The device of the table whose words are all in the name, and most of them. */
function knownDevice(name: string): KnownDevice | undefined {
  const lower = name.toLowerCase();
  if (slowerBuilds.some((word) => lower.includes(word))) return undefined;
  const words = new Set(lower.split(/[^a-z0-9]+/));
  return mostWordsFirst.find(({ parts }) => parts.every((word) => words.has(word)))?.device;
}
