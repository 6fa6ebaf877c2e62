/** Bytes to which tensor data is aligned when the file does not say. */
export const DEFAULT_ALIGNMENT = 32;

/** `bytes` rounded up to a multiple of `alignment`. */
export function padded(bytes: number, alignment: number = DEFAULT_ALIGNMENT): number {
  return Math.ceil(bytes / alignment) * alignment;
}
