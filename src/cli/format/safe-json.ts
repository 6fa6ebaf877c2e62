import { UNSAFE } from './escape.js';

/** JSON that is safe on a terminal: what `JSON.stringify` leaves raw, such as the C1 controls, is escaped as well. */
export function safeJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  // Such characters occur only inside strings, save the line ends of the indentation.
  return text.replace(UNSAFE, (character) =>
    character === '\n' ? character : `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}
