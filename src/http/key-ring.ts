import type { KeyHolder } from '../core/key-holder.js';

/** Who may come in with which key. */
export interface KeyRing {
  /** Undefined for what is no key, or one no longer. */
  find(key: string): KeyHolder | undefined;
}
