import { setTimeout as pause } from 'node:timers/promises';
import { limits } from '../../core/limits.js';
import { prepareDataFolder } from '../../process/data-folder.js';
import { type FolderLock, lockFolder } from '../../process/folder-lock.js';
import type { Output } from '../output.js';

/** Locks a folder as soon as no process of another `up` has it. Rejects with a sentence when nobody could, and when the signal fires. */
export async function waitForFolder(folder: string, output: Output, signal: AbortSignal): Promise<FolderLock> {
  const prepared = prepareDataFolder(folder);
  if (prepared.kind === 'refused') throw new Error(prepared.message);
  for (let tries = 0; ; tries += 1) {
    signal.throwIfAborted();
    const lock = lockFolder(prepared.path);
    if (lock.kind === 'locked') return lock;
    if (lock.reason !== 'in-use') throw new Error(lock.message);
    if (tries === 0) output.note('WAITING', `waiting until another \`stageplane up\` has done with ${folder}`);
    await pause(limits.upWaitMillis, undefined, { signal });
  }
}
