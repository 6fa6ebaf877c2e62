import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { status } from '@grpc/grpc-js';
import type { GgufSource, ModelInspection } from '../../gen/stageplane/v1/model.js';
import { limits } from '../core/limits.js';
import { type OpenSource, openFileSource } from '../gguf/byte-source.js';
import { GgufError } from '../gguf/gguf-error.js';
import { inspectModel } from '../gguf/inspect-model.js';
import { keptForSlices } from '../gguf/slice/write-slice.js';
import { RpcError } from '../grpc/rpc-error.js';
import { lookInside } from '../process/look-inside.js';
import { type EngineVerdict, judgeForLlama } from './engine-verdict.js';

export interface LibraryModel {
  readonly inspection: ModelInspection;
  /** Why it cannot be planned, although its header could be read. */
  readonly obstacle: string | undefined;
  /** What engine "llama.cpp" makes of it. */
  readonly llama: EngineVerdict;
}

export interface InspectOptions {
  readonly includeTensors?: boolean;
  /** Holds the path to the models folders: its caller may not name others. */
  readonly confined?: boolean;
  /** The request's field with the source, for violations. Default `source`. */
  readonly field?: string;
}

interface Cached extends LibraryModel {
  readonly mark: string;
}

/** Models that the orchestrator can read itself. A header is read once per state of its file. */
export class ModelLibrary {
  private readonly cache = new Map<string, Cached>();

  /**
   * @param folders to which confined callers are held; absolute
   * @param searched where a relative path of others is looked for, in order
   */
  constructor(
    private readonly folders: readonly string[],
    private readonly searched: readonly string[] = folders,
  ) {}

  /** Reads a model's header; rejects with RpcError when there is none to read. */
  async inspect(source: GgufSource | undefined, options: InspectOptions = {}): Promise<LibraryModel> {
    const { includeTensors = false, confined = false } = options;
    const named = localPath(source);
    const { path, mark } = await this.locate(confined ? await this.confine(named, options.field ?? 'source') : named);
    const key = `${confined}:${path}`;
    const known = this.cache.get(key);
    const open = confined ? this.openConfined : openFileSource;
    // A list of tensors is long and seldom asked for: it is not kept.
    const model = known?.mark === mark && !includeTensors ? known : await read(path, mark, includeTensors, open);
    if (!includeTensors) this.remember(key, model);
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

  /** Refuses a file that a plan names and that leads out of the models folders; one that is not there may be elsewhere. */
  async refuseOutside(source: GgufSource | undefined, field: string): Promise<void> {
    if (source?.source?.$case !== 'localPath') return;
    const path = source.source.value;
    // Then nothing is ever opened here; the agents look under their own folders.
    if (this.searched.length === 0 && !isAbsolute(path)) return;
    const looked = await lookInside(path, this.folders);
    if (looked.kind === 'outside') throw outside(field, this.folders);
  }

  /** The shards of a model lie beside the first one, and may be links of their own. */
  private readonly openConfined: OpenSource = async (name) => {
    const looked = await lookInside(name, this.folders);
    if (looked.kind === 'inside') return openFileSource(looked.real);
    return { kind: 'refused', error: new GgufError('missing-file', `there is no file ${name}: check the path`) };
  };

  private async confine(path: string, field: string): Promise<string> {
    const looked = await lookInside(path, this.folders);
    if (looked.kind === 'outside') throw outside(field, this.folders);
    if (looked.kind === 'absent') throw notFound(path, this.folders);
    return looked.path;
  }

  private async locate(path: string): Promise<{ path: string; mark: string }> {
    const candidates = isAbsolute(path) ? [path] : this.searched.map((folder) => join(folder, path));
    for (const candidate of candidates) {
      const found = await stat(candidate, { bigint: true }).catch(() => undefined);
      if (found)
        return {
          path: candidate,
          mark: `${found.ino}/${found.size}/${found.mtimeNs}`,
        };
    }
    throw notFound(path, this.searched);
  }

  private remember(key: string, model: Cached): void {
    this.cache.delete(key);
    this.cache.set(key, model);
    const [oldest] = this.cache.keys();
    if (this.cache.size > limits.cachedModels && oldest !== undefined) this.cache.delete(oldest);
  }
}

async function read(path: string, mark: string, includeTensors: boolean, open: OpenSource): Promise<Cached> {
  const outcome = await inspectModel(path, { includeTensors, keep: keptForSlices, open });
  if (outcome.kind === 'refused') {
    throw new RpcError(status.FAILED_PRECONDITION, 'MODEL_UNREADABLE', outcome.error.message);
  }
  const { inspection, obstacle, model } = outcome;
  return { inspection, obstacle, llama: await judgeForLlama(model), mark };
}

function notFound(path: string, folders: readonly string[]): RpcError {
  const where = isAbsolute(path) ? '' : ` under ${folders.join(', ') || 'any --models folder'}`;
  const message = `the orchestrator finds no file ${path}${where}: name one on its own disk, or start it with --models`;
  return new RpcError(status.NOT_FOUND, 'MODEL_NOT_FOUND', message);
}

/** The same sentence whether the file is there or not. */
function outside(field: string, folders: readonly string[]): RpcError {
  const where =
    folders.length > 0 ? 'the models folders of the orchestrator' : 'a models folder, and the orchestrator has none';
  const message = `the model must lie in ${where}: name one by its path there, or let the operator add a folder with --models`;
  const fieldViolations = [{ field: `${field}.local_path`, description: 'must lead to a file in a models folder' }];
  return new RpcError(status.PERMISSION_DENIED, 'MODEL_OUTSIDE', message, { fieldViolations });
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
