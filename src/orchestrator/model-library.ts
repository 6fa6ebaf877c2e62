import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { status } from '@grpc/grpc-js';
import type { GgufSource, ModelInspection } from '../../gen/stageplane/v1/model.js';
import { limits } from '../core/limits.js';
import { inspectModel } from '../gguf/inspect-model.js';
import { keptForSlices } from '../gguf/slice/write-slice.js';
import { RpcError } from '../grpc/rpc-error.js';
import { type EngineVerdict, judgeForLlama } from './engine-verdict.js';

export interface LibraryModel {
  readonly inspection: ModelInspection;
  /** Why it cannot be planned, although its header could be read. */
  readonly obstacle: string | undefined;
  /** What engine "llama.cpp" makes of it. */
  readonly llama: EngineVerdict;
}

interface Cached extends LibraryModel {
  readonly mark: string;
}

/** Models that the orchestrator can read itself. A header is read once per state of its file. */
export class ModelLibrary {
  private readonly cache = new Map<string, Cached>();

  /** @param folders where a relative path is looked for, in order */
  constructor(private readonly folders: readonly string[]) {}

  /** Reads a model's header; rejects with RpcError when there is none to read. */
  async inspect(source: GgufSource | undefined, includeTensors = false): Promise<LibraryModel> {
    const { path, mark } = await this.locate(localPath(source));
    const known = this.cache.get(path);
    // A list of tensors is long and seldom asked for: it is not kept.
    const model = known?.mark === mark && !includeTensors ? known : await read(path, mark, includeTensors);
    if (!includeTensors) this.remember(path, model);
    return {
      inspection: withSource(model.inspection, source),
      obstacle: model.obstacle,
      llama: model.llama,
    };
  }

  /** Where a model's file is; rejects with RpcError when it is not on this disk. */
  async find(source: GgufSource | undefined): Promise<string> {
    const { path } = await this.locate(localPath(source));
    return path;
  }

  private async locate(path: string): Promise<{ path: string; mark: string }> {
    const candidates = isAbsolute(path) ? [path] : this.folders.map((folder) => join(folder, path));
    for (const candidate of candidates) {
      const found = await stat(candidate, { bigint: true }).catch(() => undefined);
      if (found)
        return {
          path: candidate,
          mark: `${found.ino}/${found.size}/${found.mtimeNs}`,
        };
    }
    const where = isAbsolute(path) ? '' : ` under ${this.folders.join(', ') || 'any --models folder'}`;
    const message = `the orchestrator finds no file ${path}${where}: name one on its own disk, or start it with --models`;
    throw new RpcError(status.NOT_FOUND, 'MODEL_NOT_FOUND', message);
  }

  private remember(path: string, model: Cached): void {
    this.cache.delete(path);
    this.cache.set(path, model);
    const [oldest] = this.cache.keys();
    if (this.cache.size > limits.cachedModels && oldest !== undefined) this.cache.delete(oldest);
  }
}

async function read(path: string, mark: string, includeTensors: boolean): Promise<Cached> {
  const outcome = await inspectModel(path, { includeTensors, keep: keptForSlices });
  if (outcome.kind === 'refused') {
    throw new RpcError(status.FAILED_PRECONDITION, 'MODEL_UNREADABLE', outcome.error.message);
  }
  const { inspection, obstacle, model } = outcome;
  return { inspection, obstacle, llama: await judgeForLlama(model), mark };
}

function localPath(source: GgufSource | undefined): string {
  switch (source?.source?.$case) {
    case 'localPath':
      return source.source.value;
    case 'huggingFace':
      throw new RpcError(
        status.UNIMPLEMENTED,
        'HUGGING_FACE_SOURCE',
        `this version reads local files alone: download ${source.source.value.repo} and name the file`,
      );
    default:
      throw new RpcError(
        status.INVALID_ARGUMENT,
        'MODEL_MISSING',
        'the request names no model: set source.local_path',
        {
          fieldViolations: [
            {
              field: 'source',
              description: 'must be set; to one of local_path, hugging_face',
            },
          ],
        },
      );
  }
}

/** The plan carries the path as the launcher wrote it: each agent resolves it under its own folders. */
function withSource(inspection: ModelInspection, source: GgufSource | undefined): ModelInspection {
  return {
    ...inspection,
    facts: inspection.facts && { ...inspection.facts, ggufSource: source },
  };
}
