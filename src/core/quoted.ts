import { limits } from './limits.js';

/** Something of a stranger's making inside a sentence: text is quoted, anything else is JSON; short and on one line. */
export function quoted(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(shortened(value)) : shortened(jsonOf(value));
}

/** What contains itself, or repeats itself beyond the length of a string, has no JSON. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'nothing';
  } catch {
    return Array.isArray(value) ? 'a list' : 'a map';
  }
}

function shortened(text: string): string {
  return text.length > limits.quotedCharacters ? `${text.slice(0, limits.quotedCharacters)}...` : text;
}
