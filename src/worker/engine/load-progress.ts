import { limits } from '../../core/limits.js';
import type { LoadOptions } from './load.js';

/** Tells how far a load is. */
export interface LoadProgress {
  /** So many more bytes are done. */
  add(bytes: number): void;
  /** Everything is done; gives the bytes that were added. */
  end(): number;
}

/** Reports nothing done, then every step of bytes, then everything done: at most 66 reports up to 4 GiB. */
export function progressReporter(bytesTotal: number, { onProgress }: LoadOptions): LoadProgress {
  const step = Math.min(limits.progressStepMaxBytes, Math.max(limits.progressStepMinBytes, bytesTotal / 64));
  let bytesDone = 0;
  let reported = 0;
  onProgress?.({ bytesDone, bytesTotal });
  return {
    add(bytes: number): void {
      bytesDone += bytes;
      if (bytesDone - reported < step || bytesDone === bytesTotal) return;
      reported = bytesDone;
      onProgress?.({ bytesDone, bytesTotal });
    },
    end(): number {
      onProgress?.({ bytesDone: bytesTotal, bytesTotal });
      return bytesDone;
    },
  };
}
