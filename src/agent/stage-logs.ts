import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../core/limits.js';
import { stageName } from '../core/machine/agent/state.js';
import type { StageKey } from '../core/machine/state.js';
import { LogTail } from './log-tail.js';
import { RotatingFile } from './rotating-file.js';

/** The log files of an agent's stages: one per generation, with at most one older file beside it. */
export class StageLogs {
  /** @param folder made by the caller */
  constructor(
    readonly folder: string,
    private readonly maxBytes: number = limits.workerLogBytes,
  ) {}

  /**
   * A new file for a stage. A folder in trouble is no reason not to start it.
   *
   * @param inUse stages whose files must stay
   */
  create(key: StageKey, inUse: ReadonlySet<string>): RotatingFile {
    const path = this.#path(key);
    try {
      this.#prune(inUse);
      rmSync(`${path}.1`, { force: true });
    } catch {
      // Whatever is wrong with the folder, the first line that cannot be written tells of it.
    }
    return new RotatingFile(path, this.maxBytes);
  }

  /** The last lines that a stage has logged, oldest first; undefined when there is no such file. */
  read(key: StageKey, maxLines: number): string[] | undefined {
    const path = this.#path(key);
    const older = readIfThere(`${path}.1`);
    const newer = readIfThere(path);
    if (!newer && !older) return undefined;
    const tail = new LogTail(Math.min(maxLines, limits.logRequestLines));
    for (const bytes of [older, newer]) if (bytes) tail.push(bytes);
    return tail.lines();
  }

  #path(key: StageKey): string {
    return join(this.folder, `${stageName(key)}.log`);
  }

  /** Makes room for one more. */
  #prune(inUse: ReadonlySet<string>): void {
    const names = readdirSync(this.folder).filter((name) => name.endsWith('.log'));
    if (names.length < limits.stageLogs) return;
    const oldestFirst = names
      .filter((name) => !inUse.has(name.slice(0, -'.log'.length)))
      .map((name) => ({ path: join(this.folder, name), at: statSync(join(this.folder, name)).mtimeMs }))
      .sort((a, b) => a.at - b.at);
    for (const { path } of oldestFirst.slice(0, names.length - limits.stageLogs + 1)) {
      rmSync(path, { force: true });
      rmSync(`${path}.1`, { force: true });
    }
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
