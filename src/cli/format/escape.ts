/**
 * Control characters (C0, DEL, C1), line and paragraph separators, and everything that reorders or hides text (bidi
 * controls, zero-width characters, byte order mark). A lone surrogate is no character at all.
 */
export const UNSAFE = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Cs}/gu;

/**
 * Makes text of unknown origin safe on a terminal: node names, fault messages and log lines come from other machines,
 * and an escape sequence in them could rewrite what an operator sees. Line ends are escaped too.
 */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** The same for text of many lines, such as what a model says: line ends and tabs stay. */
export function escapeText(text: string): string {
  return text.replace(UNSAFE, (character) => (/[\n\t]/.test(character) ? character : escaped(character)));
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}
