import type { SaidTokens } from '../said-tokens.js';
import type { SamplingSettings } from '../sampling.js';
import type { LoadFootprint, StageLayers, StepInput, StepOutput } from '../stage-layers.js';
import type { EmbeddingTable } from './embedding-table.js';
import { pickToken } from './pick-token.js';
import type { StageContext } from './stage-context.js';

interface LlamaFacts {
  readonly architecture: string;
  readonly effectiveStart: number;
  readonly vocabularySize: number;
  readonly footprint: LoadFootprint;
}

interface LlamaParts {
  readonly context: StageContext;
  /** Of the first stage alone. */
  readonly embedding: EmbeddingTable | undefined;
  /** Of the last stage alone. */
  readonly sampling: SamplingSettings | undefined;
  /** Sessions held at once. */
  readonly sessions: number;
  /** Lets go of the file that the context was loaded from. */
  readonly release: () => Promise<void>;
}

/** Layers of a stage that llama.cpp runs. */
export class LlamaLayers implements StageLayers {
  readonly architecture: string;
  readonly effectiveStart: number;
  readonly hiddenDim: number;
  readonly vocabularySize: number;
  readonly footprint: LoadFootprint;
  readonly #parts: LlamaParts;
  /** The library's number of each session that has rows. */
  readonly #sequences = new Map<string, number>();
  readonly #free: number[];

  constructor(facts: LlamaFacts, parts: LlamaParts) {
    this.architecture = facts.architecture;
    this.effectiveStart = facts.effectiveStart;
    this.hiddenDim = parts.context.width;
    this.vocabularySize = facts.vocabularySize;
    this.footprint = facts.footprint;
    this.#parts = parts;
    this.#free = Array.from({ length: parts.sessions }, (_, sequence) => sequence);
  }

  run(session: string, position: number, input: StepInput, said?: SaidTokens): StepOutput {
    const { context, embedding, sampling } = this.#parts;
    const rows = input.kind === 'tokens' ? embedding!.rows(input.ids) : input.values;
    const values = context.run(this.#sequenceOf(session), position, rows);
    if (sampling === undefined) return { kind: 'rows', values };
    const next = position + rows.length / this.hiddenDim;
    return { kind: 'token', tokenId: pickToken(values, next, said?.settings ?? sampling, said) };
  }

  truncate(session: string, position: number): boolean {
    const sequence = this.#sequences.get(session);
    return sequence === undefined || this.#parts.context.truncate(sequence, position);
  }

  drop(session: string): void {
    const sequence = this.#sequences.get(session);
    if (sequence === undefined) return;
    this.#parts.context.truncate(sequence, 0);
    this.#sequences.delete(session);
    this.#free.push(sequence);
  }

  async close(): Promise<void> {
    this.#parts.context.free();
    this.#parts.embedding?.close();
    await this.#parts.release();
  }

  #sequenceOf(session: string): number {
    const known = this.#sequences.get(session);
    if (known !== undefined) return known;
    const sequence = this.#free.pop();
    // The caller admits no more sessions than were planned.
    if (sequence === undefined) throw new Error('more sessions than the stage was loaded for');
    this.#sequences.set(session, sequence);
    return sequence;
  }
}
