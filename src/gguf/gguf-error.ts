/** Why a file was refused. One kind per thing that a caller could want to treat differently. */
export type GgufErrorKind =
  // The file itself.
  | 'missing-file'
  | 'not-a-file'
  | 'unreadable-file'
  | 'empty-file'
  | 'lfs-pointer'
  | 'not-gguf'
  | 'big-endian'
  | 'unsupported-version'
  | 'truncated'
  // Its header.
  | 'too-large'
  | 'bad-name'
  | 'duplicate-key'
  | 'duplicate-tensor'
  | 'unknown-value-type'
  | 'nested-array'
  | 'bad-alignment'
  | 'unknown-tensor-type'
  | 'bad-dims'
  | 'misaligned-tensor'
  | 'tensor-outside-file'
  | 'overlapping-tensors'
  // What the header says of the model.
  | 'not-a-model'
  | 'missing-key'
  | 'bad-value'
  // Its shards.
  | 'not-first-shard'
  | 'bad-shard-name'
  | 'missing-shard'
  | 'shard-mismatch';

/** What an error is about, as far as it is known. */
export interface GgufErrorSubject {
  /** Metadata key, as the file spells it. */
  readonly key?: string | undefined;
  /** Tensor name, as the file spells it. */
  readonly tensor?: string | undefined;
}

/**
 * A GGUF file that cannot be used. `message` is a whole sentence that names the file and says what to do.
 *
 * Thrown only inside this folder, where a parser would otherwise test every read; each exported reader hands it out as
 * a value (`Refused`).
 */
export class GgufError extends Error {
  override readonly name = 'GgufError';
  readonly key: string | undefined;
  readonly tensor: string | undefined;

  constructor(
    readonly kind: GgufErrorKind,
    message: string,
    subject: GgufErrorSubject = {},
  ) {
    super(message);
    this.key = subject.key;
    this.tensor = subject.tensor;
  }
}

/** The answer of every reader in this folder when the file cannot be used. */
export interface Refused {
  readonly kind: 'refused';
  readonly error: GgufError;
}

/** Runs a reader and turns its GgufError into a value; any other exception is a bug and passes through. */
export async function refusing<T>(read: () => Promise<T>): Promise<T | Refused> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof GgufError) return { kind: 'refused', error };
    throw error;
  }
}
