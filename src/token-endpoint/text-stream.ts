/**
 * Puts the bytes of tokens together to text without ever splitting a character. What comes out, all together, is what
 * decoding all bytes at once gives: what is no valid UTF-8 becomes U+FFFD.
 */
export class TextStream {
  // A byte order mark that a model says is text like any other.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  /** The characters that these bytes complete; at most three bytes wait. */
  push(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes, { stream: true });
  }

  /** What an unfinished character comes to. */
  end(): string {
    return this.#decoder.decode();
  }
}
