import { type Device, DeviceKind } from '../../gen/stageplane/v1/node.js';
import { clipText } from '../core/clip-text.js';
import { limits } from '../core/limits.js';
import { outputOf } from './output-of.js';

const QUERY = ['--query-gpu=index,name,memory.total,memory.free', '--format=csv,noheader,nounits'];
const MIB = 1024n * 1024n;

/** The machine's NVIDIA GPUs; none when the driver's tool is missing, broken or silent. */
export async function nvidiaGpus(): Promise<Device[]> {
  const output = await outputOf('nvidia-smi', QUERY, limits.gpuQueryMillis);
  return (output ?? '').split('\n').flatMap(parseGpu);
}

/** One line such as `0, NVIDIA GeForce RTX 4090, 24564, 24080`, in MiB. `[N/A]` is unknown, which is 0. */
function parseGpu(line: string): Device[] {
  const fields = line.split(',').map((field) => field.trim());
  const [index = '', ...rest] = fields;
  if (!/^\d{1,3}$/.test(index) || rest.length < 3) return [];
  // From the end: a name may contain a comma.
  const [total, free] = rest.slice(-2).map(mebibytes);
  return [
    {
      deviceId: `cuda:${index}`,
      kind: DeviceKind.DEVICE_KIND_GPU,
      name: clipText(rest.slice(0, -2).join(', '), limits.nameBytes),
      totalBytes: total ?? 0n,
      freeBytes: total === undefined ? 0n : (free ?? 0n),
    },
  ];
}

function mebibytes(text: string): bigint | undefined {
  return /^\d{1,12}$/.test(text) ? BigInt(text) * MIB : undefined;
}
