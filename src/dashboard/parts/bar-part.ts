/** One part of a bar that shows what a device's memory is used for. */
export interface BarPart {
  /** Colour and pattern. */
  readonly kind: 'held' | 'promised' | 'other' | 'free' | 'weights' | 'kv' | 'ends' | 'buffers';
  readonly label: string;
  /** Of the whole, 0 to 1. */
  readonly share: number;
  /** Such as `3.1 GiB`. */
  readonly figure: string;
}
