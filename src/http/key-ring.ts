import type { KeyHolder } from '../core/key-holder.js';

/** Who may come in with which key. */
export interface KeyRing {
  /** Undefined for what is no key, or one no longer. */
  find(key: string): KeyHolder | undefined;
  /** Calls `end` once the key is good no longer; the result takes that back, when the visit is over. */
  enter(holder: KeyHolder, end: () => void): () => void;
}
