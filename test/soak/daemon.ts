import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Timings } from '../../src/core/machine/timings.js';

export interface Measurement {
  /** After a collection. */
  readonly heapBytes: number;
  /** Open file descriptors; 0 where the system does not say. */
  readonly files: number;
}

/** The orchestrator of a soak, with what it holds. */
export class Daemon {
  private constructor(
    private readonly child: ChildProcess,
    readonly address: string,
  ) {}

  static async start(dataFolder: string, timings: Timings): Promise<Daemon> {
    const child = fork(join(import.meta.dirname, 'orchestrator.mjs'), [JSON.stringify({ dataFolder, timings })], {
      execArgv: ['--expose-gc'],
    });
    const [{ address }] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => [{ address: '' }]),
    ]);
    if (address === '') throw new Error('the orchestrator ended before it listened');
    return new Daemon(child, address);
  }

  async measure(): Promise<Measurement> {
    this.child.send('measure');
    const [measured] = await once(this.child, 'message');
    return measured;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.disconnect();
    await exited;
  }
}
