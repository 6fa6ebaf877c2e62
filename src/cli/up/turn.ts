import { type FolderLock, lockFolder } from '../../process/folder-lock.js';
import type { Output } from '../output.js';
import { waitForFolder } from './wait-for-folder.js';

/** Among all `up` of one data folder one at a time starts something, or ends it: the next finds all of it, or nothing. */
export class Turn {
  #lock: FolderLock | undefined;

  constructor(
    private readonly folder: string,
    private readonly output: Output,
  ) {}

  async wait(signal: AbortSignal): Promise<void> {
    this.#lock ??= await waitForFolder(this.folder, this.output, signal);
  }

  /** Where another one has it, it goes on without. */
  claim(): void {
    if (this.#lock !== undefined) return;
    const lock = lockFolder(this.folder);
    if (lock.kind === 'locked') this.#lock = lock;
  }

  release(): void {
    this.#lock?.release();
    this.#lock = undefined;
  }
}
