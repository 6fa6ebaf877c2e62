import { join } from 'node:path';
import type { GgufModel } from '../../../../src/gguf/open-model.js';
import { needsSlice, positionOf } from '../../../../src/gguf/slice/slice-range.js';
import type { SliceRecipe } from '../../../../src/gguf/slice/slice-recipe.js';
import { openForSlices, writeSlice } from '../../../../src/gguf/slice/write-slice.js';
import { EmbeddingTable } from '../../../../src/worker/engine/llama/embedding-table.js';
import { type LlamaLibrary, openLlamaLibrary } from '../../../../src/worker/engine/llama/llama-library.js';
import { loadModel } from '../../../../src/worker/engine/llama/load-model.js';
import { StageContext } from '../../../../src/worker/engine/llama/stage-context.js';

export interface CutSettings {
  readonly microBatch: number;
  readonly contextLength: number;
  readonly flashAttention: boolean;
  readonly threads: number;
}

export async function testLibrary(): Promise<LlamaLibrary> {
  const library = await openLlamaLibrary();
  if (library.kind === 'refused') throw new Error(library.message);
  return library;
}

export async function testModel(path: string): Promise<GgufModel> {
  const opened = await openForSlices(path);
  if (opened.kind === 'refused') throw opened.error;
  return opened.model;
}

/** A model in stages, each in a context of its own, fed by hand so that rows and logits can be looked at. */
export class CutModel {
  /** Rows that left each stage but the last in the last run. */
  readonly boundaryRows: Float32Array[] = [];

  constructor(
    readonly stages: readonly StageContext[],
    readonly embedding: EmbeddingTable,
    readonly settings: CutSettings,
  ) {}

  /** Cuts at `cuts`; the slices are written into `folder`. A whole model is loaded as the engine loads it. */
  static async open(
    library: LlamaLibrary,
    model: GgufModel,
    recipe: SliceRecipe,
    cuts: readonly number[],
    folder: string,
    settings: CutSettings,
  ): Promise<CutModel> {
    const bounds = [0, ...cuts, model.numLayers];
    const stages: StageContext[] = [];
    for (const [index, end] of bounds.slice(1).entries()) {
      const range = { start: bounds[index]!, end };
      const slice = join(folder, `slice-${range.start}-${range.end}.gguf`);
      const path = needsSlice(recipe, model, range) ? slice : model.path;
      if (path === slice) await writeSlice(slice, { model, range, recipe });
      const loaded = loadModel(library, path);
      if (loaded.kind !== 'loaded') throw new Error(`stage [${range.start}, ${end}): ${JSON.stringify(loaded)}`);
      const output = positionOf(range, model).last ? 'logits' : 'rows';
      const { positionsPerRow } = recipe;
      stages.push(new StageContext(library, loaded.model, { ...settings, output, sequences: 1, positionsPerRow }));
    }
    return new CutModel(stages, new EmbeddingTable(library, model, recipe), settings);
  }

  /** Logits that follow the last of `ids`, one micro-batch after the other. */
  run(ids: readonly number[], position: number): Float32Array {
    const pieces: Float32Array[][] = this.stages.map(() => []);
    for (let start = 0; start < ids.length; start += this.settings.microBatch) {
      let rows = this.embedding.rows(ids.slice(start, start + this.settings.microBatch));
      for (const [index, stage] of this.stages.entries()) {
        rows = stage.run(0, position + start, rows);
        pieces[index]!.push(rows);
      }
    }
    this.boundaryRows.splice(0, Number.POSITIVE_INFINITY, ...pieces.slice(0, -1).map(joined));
    // The next run writes to them.
    return pieces.at(-1)!.at(-1)!.slice();
  }

  /** Forgets everything that was run. */
  rewind(): void {
    for (const stage of this.stages) stage.truncate(0, 0);
  }

  close(): void {
    for (const stage of this.stages) stage.free();
    this.embedding.close();
  }
}

function joined(pieces: readonly Float32Array[]): Float32Array {
  return Float32Array.from(pieces.flatMap((piece) => [...piece]));
}
