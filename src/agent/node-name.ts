import { hostname } from 'node:os';
import { limits } from '../core/limits.js';

/** A machine's name as a DNS label, so that a resolver can use it (RFC 1123): `My PC.local` is `my-pc`. */
export function nodeName(from: string = hostname()): string {
  const [label = ''] = from.toLowerCase().split('.');
  const clean = label.replace(/[^a-z0-9-]+/g, '-').slice(0, limits.nameBytes);
  return clean.replace(/^-+|-+$/g, '') || 'node';
}
