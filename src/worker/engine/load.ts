import type { GgufModel } from '../../gguf/open-model.js';
import { demand, demandCount } from './demand.js';
import type { Recipe } from './recipe.js';
import type { StructuredStatus } from './status.js';

interface LoadRequestFields {
  readonly artifactPath: string;
  readonly shardStart: number;
  readonly shardEnd: number;
  readonly totalLayers: number;
  readonly recipe?: Partial<Recipe>;
}

/** Which layers of which file an engine holds, and with which settings. */
export class LoadRequest {
  /** The GGUF file; of a split model, its first shard. */
  readonly artifactPath: string;
  /** First layer. */
  readonly shardStart: number;
  /** Last layer, inclusive. */
  readonly shardEnd: number;
  /** Layers of the whole model. */
  readonly totalLayers: number;
  readonly recipe: Partial<Recipe>;

  /** @throws EngineError when the path is empty or the range is not inside the model */
  constructor(fields: LoadRequestFields) {
    demand(fields.artifactPath !== '', 'a load request needs an artifact path');
    demandCount(fields.shardStart, 'shardStart');
    demandCount(fields.shardEnd, 'shardEnd');
    demandCount(fields.totalLayers, 'totalLayers');
    demand(
      fields.shardEnd >= fields.shardStart,
      `shardEnd ${fields.shardEnd} lies before shardStart ${fields.shardStart}`,
    );
    demand(
      fields.totalLayers > fields.shardEnd,
      `shardEnd ${fields.shardEnd} is inclusive and must lie below totalLayers ${fields.totalLayers}`,
    );
    this.artifactPath = fields.artifactPath;
    this.shardStart = fields.shardStart;
    this.shardEnd = fields.shardEnd;
    this.totalLayers = fields.totalLayers;
    this.recipe = fields.recipe ?? {};
  }
}

/** How far a load is, in tensor bytes of the file. */
export interface LoadProgressReport {
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

/** What travels beside a `LoadRequest` and is no part of its identity. */
export interface LoadOptions {
  /** Called with 0 bytes first, then in steps of bytes, with all bytes last. */
  readonly onProgress?: (report: LoadProgressReport) => void;
  /**
   * Asked between two pieces of work; true ends the load with CANCELLED. An `AbortSignal` will do. It is polled so that
   * an engine inside one long call of a native library, where no event arrives, can ask as well.
   */
  readonly signal?: { readonly aborted: boolean };
  /** The header of `artifactPath`, from `openForSlices`, when the caller has read it already. */
  readonly model?: GgufModel;
}

/** How a load went. */
export interface LoadResult {
  readonly status: StructuredStatus;
  /** First layer that the engine really starts at. */
  readonly effectiveStart: number;
  /** `general.architecture`; empty unless loaded. */
  readonly architecture: string;
}
