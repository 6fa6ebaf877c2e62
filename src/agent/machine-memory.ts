import { freemem, totalmem } from 'node:os';

/** Bytes of RAM that programs of this machine, or of this container, may use. */
export function totalMemory(): bigint {
  return BigInt(Math.floor(Math.min(totalmem(), containerLimit())));
}

/** Bytes that no program uses; what the system only caches counts as free. */
export function freeMemory(): bigint {
  const free = containerLimit() < totalmem() ? Math.min(process.availableMemory(), freemem()) : freemem();
  return BigInt(Math.floor(free));
}

/** Without a limit Node gives 0, or the largest number that the kernel can write. */
function containerLimit(): number {
  return process.constrainedMemory() || Number.POSITIVE_INFINITY;
}
