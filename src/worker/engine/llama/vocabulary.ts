import { type LlamaLibrary, openLlamaLibrary } from './llama-library.js';
import { loadModel } from './load-model.js';
import type { Pointer } from './structs.js';

export interface TokenizeOptions {
  /** Add the tokens that the model wants at the beginning and the end. Default true. */
  readonly addSpecial?: boolean;
  /** Read "<|im_start|>" and its like as the tokens they name; off for text of strangers. Default false. */
  readonly parseSpecial?: boolean;
}

export type VocabularyOutcome =
  | { readonly kind: 'opened'; readonly vocabulary: Vocabulary }
  | { readonly kind: 'refused'; readonly message: string };

/** Room for the longest token of most vocabularies; longer ones are asked for again. */
const PIECE_BYTES = 64;

/** Opens the tokenizer of a model's file, of a split model its first shard's. Loads no tensor. */
export async function openVocabulary(path: string): Promise<VocabularyOutcome> {
  const library = await openLlamaLibrary();
  if (library.kind === 'refused') return { kind: 'refused', message: library.message };
  const loaded = loadModel(library, path, { vocabularyOnly: true });
  if (loaded.kind === 'loaded') return { kind: 'opened', vocabulary: new Vocabulary(library, loaded.model) };
  return { kind: 'refused', message: loaded.kind === 'failed' ? loaded.message : `${path} was not loaded` };
}

/** Text to tokens and back, as llama.cpp does it. */
export class Vocabulary {
  /** Tokens. */
  readonly size: number;
  /** Every token after which a model says no more: end of text, of turn and whatever else the library knows as such. */
  readonly endTokens: ReadonlySet<number>;
  /** Jinja source, or undefined when the model brings none. */
  readonly chatTemplate: string | undefined;
  /** Text of the token that begins a text, such as "<s>"; empty when the model has none. */
  readonly beginText: string;
  /** Text of the token that ends one. */
  readonly endText: string;
  readonly #vocabulary: Pointer;

  constructor(
    readonly library: LlamaLibrary,
    readonly model: Pointer,
  ) {
    const { api } = library;
    const vocabulary = api.vocabulary(model);
    this.#vocabulary = vocabulary;
    this.size = api.vocabularySize(vocabulary);
    const ids = Array.from({ length: this.size }, (_, id) => id);
    this.endTokens = new Set(ids.filter((id) => api.endsGeneration(vocabulary, id)));
    this.chatTemplate = api.chatTemplate(model, null) ?? undefined;
    this.beginText = this.#textOf(api.beginToken(vocabulary));
    this.endText = this.#textOf(api.endToken(vocabulary));
  }

  tokenize(text: string, { addSpecial = true, parseSpecial = false }: TokenizeOptions = {}): number[] {
    const bytes = Buffer.from(text);
    // No token stands for less than a byte; two more may be added.
    const room = bytes.length + 2;
    return this.#tokenize(bytes, room, addSpecial, parseSpecial);
  }

  /**
   * The bytes of one token. They need not be whole characters: put pieces together before decoding. `special` gives the
   * text of tokens such as "<|im_end|>", which are empty otherwise. Throws when there is no such token.
   */
  piece(id: number, { special = false }: { readonly special?: boolean } = {}): Uint8Array {
    if (!Number.isInteger(id) || id < 0 || id >= this.size) {
      throw new Error(`token ${id} is outside the vocabulary of ${this.size} entries`);
    }
    const { api } = this.library;
    let bytes = new Uint8Array(PIECE_BYTES);
    let length = api.tokenPiece(this.#vocabulary, id, bytes, bytes.length, 0, special);
    if (length < 0) {
      bytes = new Uint8Array(-length);
      length = api.tokenPiece(this.#vocabulary, id, bytes, bytes.length, 0, special);
    }
    return bytes.slice(0, length);
  }

  /** The text of tokens; what is no valid UTF-8 becomes U+FFFD. */
  detokenize(ids: readonly number[], options: { readonly special?: boolean } = {}): string {
    return Buffer.concat(ids.map((id) => this.piece(id, options))).toString('utf8');
  }

  close(): void {
    this.library.api.freeModel(this.model);
  }

  /** A model without such a token says -1. */
  #textOf(id: number): string {
    return id < 0 ? '' : this.detokenize([id], { special: true });
  }

  #tokenize(bytes: Uint8Array, room: number, addSpecial: boolean, parseSpecial: boolean): number[] {
    const { api } = this.library;
    const ids = new Int32Array(room);
    const count = api.tokenize(this.#vocabulary, bytes, bytes.length, ids, room, addSpecial, parseSpecial);
    // Normalising may make a text longer than it came.
    if (count < 0) return this.#tokenize(bytes, -count, addSpecial, parseSpecial);
    return Array.from(ids.subarray(0, count));
  }
}
