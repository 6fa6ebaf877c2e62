import assert from 'node:assert/strict';
import { createHash, randomInt } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Random } from '../sim/random.js';
import { readCorpus, writeCorpusFile } from './corpus-files.js';
import { type Watch, watch } from './watch.js';

/** What is fuzzed. */
export interface Target {
  /** Names its folder in `corpus`. */
  readonly name: string;
  /** Honest inputs to begin with. */
  readonly seeds: readonly Uint8Array[];
  /** A new input out of one that was there. Draws from `random` alone. */
  mutate(input: Buffer, random: Random): Uint8Array;
  /**
   * Runs one input and throws when something is wrong. Gives in a few words what became of it: an input with a new
   * outcome is worth changing further.
   */
  run(input: Buffer): string | Promise<string>;
}

const MOST_POOLED = 2000;
/** What is larger is run, but changed no further: it would only make the next ones slow. */
const MOST_POOLED_BYTES = 16 * 1024;
const MOST_KEPT_BYTES = 1024;
/** Unless told otherwise the same inputs each time, and no more of them than a slow machine has time for. */
const seconds = Number(process.env.FUZZ_SECONDS ?? 15);
const mostInputs = process.env.FUZZ_SECONDS ? Number.POSITIVE_INFINITY : 8000;
const defaultSeed = process.env.FUZZ_SECONDS ? String(randomInt(2 ** 31)) : '1';

/** For a test that fuzzes: its time and that of one slow input. */
export const fuzzTimeout = seconds * 1000 + 60_000;

/** Runs the corpus and then new inputs for a while. Gives how many inputs had which outcome. */
export async function fuzz(target: Target): Promise<ReadonlyMap<string, number>> {
  const seed = process.env.FUZZ_SEED ?? defaultSeed;
  const watched = await watch(seed, join(tmpdir(), `fuzz-${target.name}-${process.pid}`));
  try {
    return await new Session(target, seed, watched).run();
  } finally {
    await watched.end();
  }
}

class Session {
  readonly #outcomes = new Map<string, number>();
  readonly #pool: Buffer[] = [];
  readonly #random: Random;
  readonly #folder: string;

  constructor(
    private readonly target: Target,
    private readonly seed: string,
    private readonly watched: Watch,
  ) {
    this.#random = new Random(`${target.name}/${seed}`);
    this.#folder = fileURLToPath(new URL(`corpus/${target.name}/`, import.meta.url));
  }

  async run(): Promise<ReadonlyMap<string, number>> {
    for (const input of [...readCorpus(this.#folder), ...this.target.seeds]) {
      this.#pool.push(Buffer.from(input));
      await this.#try(Buffer.from(input));
    }
    let inputs = 0;
    const start = performance.now();
    while (inputs < mostInputs && performance.now() - start < seconds * 1000) {
      const input = Buffer.from(this.target.mutate(Buffer.from(this.#random.pick(this.#pool)), this.#random));
      const isNew = await this.#try(input);
      if (isNew && input.length <= MOST_POOLED_BYTES && this.#pool.length < MOST_POOLED) this.#pool.push(input);
      inputs += 1;
      // What is asynchronous inside must get its turn, and so must the runner that waits for us.
      if (inputs % 64 === 0) await new Promise(setImmediate);
    }
    const rate = Math.round((inputs * 1000) / (performance.now() - start));
    if (process.env.FUZZ_OUTCOMES) console.log(this.#outcomes);
    console.log(`${this.target.name}: ${inputs} inputs, ${rate} per second, ${this.#outcomes.size} outcomes`);
    return this.#outcomes;
  }

  /** Whether its outcome is the first of its kind. */
  async #try(input: Buffer): Promise<boolean> {
    this.watched.begin(input);
    const outcome = await this.#outcomeOf(input);
    const count = this.#outcomes.get(outcome) ?? 0;
    this.#outcomes.set(outcome, count + 1);
    if (count === 0 && process.env.FUZZ_KEEP) this.#keep(input, outcome);
    return count === 0;
  }

  async #outcomeOf(input: Buffer): Promise<string> {
    const before = Buffer.from(input);
    try {
      const outcome = await this.target.run(input);
      assert.deepEqual(Object.keys(Object.prototype), []);
      return outcome;
    } catch (error) {
      const name = `failure-${createHash('sha256').update(before).digest('hex').slice(0, 12)}`;
      const path = writeCorpusFile(this.#folder, name, before);
      throw new Error(`FUZZ_SEED=${this.seed}: an input failed, it is in the corpus as ${path}`, { cause: error });
    }
  }

  #keep(input: Buffer, outcome: string): void {
    if (input.length > MOST_KEPT_BYTES) return;
    writeCorpusFile(this.#folder, outcome.replace(/[^a-z0-9]+/gi, '-').slice(0, 60), input);
  }
}
