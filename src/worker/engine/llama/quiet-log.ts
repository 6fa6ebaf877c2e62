import type koffi from 'koffi';
import type { LibraryHandle } from 'koffi';
import type { LlamaApi } from './llama-api.js';

/** ggml's log levels. */
const WARNING = 3;
const ERROR = 4;
const KEPT_LINES = 4;

/**
 * The library logs hundreds of lines per load to stderr. It is silenced, and listened to only where its words explain a
 * failure. Not while it computes: its threads may log then, and a callback waits for this thread.
 */
export class QuietLog {
  readonly #callback: unknown;
  readonly #silence: unknown;
  #lines: string[] | undefined;

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

  /** Runs `work` and gives the library's last complaints, in one sentence's worth of text. */
  listen<T>(work: () => T): { readonly result: T; readonly complaints: string } {
    const lines: string[] = [];
    this.#lines = lines;
    this.api.setLog(this.#callback, null);
    try {
      const result = work();
      return { result, complaints: lines.slice(-KEPT_LINES).join('; ') };
    } finally {
      this.api.setLog(this.#silence, null);
      this.#lines = undefined;
    }
  }

  #heard(level: number, text: string): void {
    const line = text.trim();
    if ((level === WARNING || level === ERROR) && line !== '') this.#lines?.push(line);
  }
}
