/** Cuts a text to at most `maxBytes` of UTF-8 at a character's boundary. A lone surrogate becomes U+FFFD on the way. */
export function clipText(text: string, maxBytes: number): string {
  const room = new Uint8Array(maxBytes);
  const { written } = new TextEncoder().encodeInto(text, room);
  // Without `ignoreBOM` a byte order mark at the beginning would be lost.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(room.subarray(0, written));
}
