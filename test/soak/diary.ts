import { stageName } from '../../src/core/machine/agent/state.js';
import type { StageKey } from '../../src/core/machine/state.js';

/** Which worker lived where, by the agents' own word: what the orchestrator says is held against it. */
export class Diary {
  readonly #live = new Map<string, string>();
  readonly #started = new Set<string>();
  readonly problems: string[] = [];

  get live(): readonly string[] {
    return [...this.#live].map(([stage, agent]) => `${stage} on ${agent}`);
  }

  begin(key: StageKey, agent: string): void {
    const name = stageName(key);
    const other = this.#live.get(name);
    if (other !== undefined) this.problems.push(`I3: ${name} lives on ${other} and begins on ${agent}`);
    this.#live.set(name, agent);
    this.#started.add(name);
  }

  end(key: StageKey): void {
    this.#live.delete(stageName(key));
  }

  everStarted(key: StageKey): boolean {
    return this.#started.has(stageName(key));
  }

  /** A run that is over and checked need not be remembered. */
  forget(runId: bigint): void {
    for (const name of this.#started) if (name.startsWith(`run-${runId}-`)) this.#started.delete(name);
  }
}
