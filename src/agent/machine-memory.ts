import { freemem, totalmem } from 'node:os';

/** Bytes of RAM that programs of this machine, or of this container, may use; of those as many as its stages may have. */
export function totalMemory(ours = Number.POSITIVE_INFINITY): bigint {
  return BigInt(Math.floor(Math.min(totalmem(), containerLimit(), ours)));
}

/** Bytes that no program uses; what the system only caches counts as free. `left` is what our stages may still take. */
export function freeMemory(left = Number.POSITIVE_INFINITY): bigint {
  const free = containerLimit() < totalmem() ? Math.min(process.availableMemory(), freemem()) : freemem();
  return BigInt(Math.floor(Math.max(0, Math.min(free, left))));
}

/** Without a limit Node gives 0, or the largest number that the kernel can write. */
function containerLimit(): number {
  return process.constrainedMemory() || Number.POSITIVE_INFINITY;
}
