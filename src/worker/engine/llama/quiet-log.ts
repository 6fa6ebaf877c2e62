import type koffi from 'koffi';
import type { LibraryHandle } from 'koffi';
import type { LlamaApi } from './llama-api.js';

/** ggml's log levels. */
const WARNING = 3;
const ERROR = 4;
const KEPT_LINES = 4;
/** How it tells of each buffer that it has allocated for intermediate results. */
const COMPUTE_BUFFER = /compute buffer size = +([\d.]+) MiB/;
const MIB = 1024 ** 2;

export interface Listened<T> {
  readonly result: T;
  /** Its last ones, in one sentence's worth of text. */
  readonly complaints: string;
  /** Bytes that it has allocated for intermediate results, to a hundredth of a MiB. */
  readonly computeBytes: number;
}

/**
 * The library logs hundreds of lines per load to stderr. It is silenced, and listened to only where its words explain a
 * failure. Not while it computes: its threads may log then, and a callback waits for this thread.
 */
export class QuietLog {
  readonly #callback: unknown;
  readonly #silence: unknown;
  #complaints: string[] | undefined;
  #computeBytes = 0;

  constructor(
    library: typeof koffi,
    llama: LibraryHandle,
    readonly api: LlamaApi,
  ) {
    const type = library.proto('void', ['int', 'str', 'void*']);
    this.#callback = library.register((level: number, text: string) => this.#heard(level, text), library.pointer(type));
    // Any function without effects will do as a callback that never crosses into JavaScript.
    this.#silence = llama.symbol('llama_time_us');
    api.setLog(this.#silence, null);
  }

  /** Runs `work` and gives what the library said of it. */
  listen<T>(work: () => T): Listened<T> {
    const complaints: string[] = [];
    this.#computeBytes = 0;
    this.#complaints = complaints;
    this.api.setLog(this.#callback, null);
    try {
      const result = work();
      return { result, complaints: complaints.slice(-KEPT_LINES).join('; '), computeBytes: this.#computeBytes };
    } finally {
      this.api.setLog(this.#silence, null);
      this.#complaints = undefined;
    }
  }

  #heard(level: number, text: string): void {
    const line = text.trim();
    if ((level === WARNING || level === ERROR) && line !== '') this.#complaints?.push(line);
    const [, mebibytes] = COMPUTE_BUFFER.exec(line) ?? [];
    if (mebibytes !== undefined) this.#computeBytes += Math.round(Number(mebibytes) * MIB);
  }
}
