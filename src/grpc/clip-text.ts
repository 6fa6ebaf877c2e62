/** Cuts a text to at most `maxBytes` of UTF-8 at a character's boundary. A lone surrogate becomes U+FFFD on the way. */
export function clipText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.slice(0, maxBytes));
  let end = Math.min(bytes.length, maxBytes);
  while (end < bytes.length && isContinuation(bytes[end])) end -= 1;
  return bytes.toString('utf8', 0, end);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
