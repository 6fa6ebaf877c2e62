/** What the thread that writes a backup is told. */
export interface BackupThreadData {
  /** Paths. */
  readonly database: string;
  readonly file: string;
  /** One number; above 0 the thread gives up. */
  readonly cancelled: SharedArrayBuffer;
}

/** What it tells. After the last three nothing more comes. */
export type BackupMessage =
  | { readonly kind: 'progress'; readonly done: number; readonly total: number }
  | { readonly kind: 'made'; readonly bytes: number; readonly revision: bigint }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly code: string; readonly detail: string };
