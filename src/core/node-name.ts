import { limits } from './limits.js';

/** Whether a name is a DNS label (RFC 1123), so that a resolver can make an address of it and a terminal can show it. */
export function isNodeName(text: string): boolean {
  return text.length <= limits.nameBytes && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(text);
}

/** What to do about a name that is none, after `... is no node name`. */
export const nodeNameAdvice = `use at most ${limits.nameBytes} of a-z, 0-9 and "-", and no "-" at either end`;
