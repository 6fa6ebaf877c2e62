import { quoted } from '../core/quoted.js';
import type { TensorTypeName } from '../core/tensors/tensor-type.js';
import { GgufError } from './gguf-error.js';
import type { TensorRow } from './read-tensor-table.js';

/** A tensor and where its bytes are. */
export interface PlacedTensor {
  /** Under 64 bytes. */
  readonly name: string;
  readonly type: TensorTypeName;
  /** 1 to 4 extents, fastest first. */
  readonly dims: readonly number[];
  /** Bytes from the start of the file. */
  readonly offset: number;
  /** Bytes without padding. */
  readonly bytes: number;
}

/** Where the tensor data of a file may lie. */
export interface DataSection {
  /** Path or address, for sentences. */
  readonly file: string;
  readonly fileBytes: number;
  /** Offset of the first data byte. */
  readonly start: number;
  readonly alignment: number;
}

/** Turns rows into absolute places: aligned, inside the file, and no two over each other. */
export function placeTensors(section: DataSection, rows: readonly TensorRow[]): PlacedTensor[] {
  const placed = rows.map((row) => placeTensor(section, row));
  const byOffset = placed.toSorted((a, b) => a.offset - b.offset);
  for (const [index, tensor] of byOffset.entries()) {
    const previous = byOffset[index - 1];
    if (previous !== undefined && previous.offset + previous.bytes > tensor.offset) {
      throw new GgufError(
        'overlapping-tensors',
        `${section.file}: the bytes of ${quoted(tensor.name)} and ${quoted(previous.name)} overlap: the file is damaged`,
        { tensor: tensor.name },
      );
    }
  }
  return placed;
}

function placeTensor(section: DataSection, row: TensorRow): PlacedTensor {
  const subject = { tensor: row.name };
  if (row.relativeOffset % section.alignment !== 0) {
    throw new GgufError(
      'misaligned-tensor',
      `${section.file}: ${quoted(row.name)} starts at ${row.relativeOffset}, no multiple of ${section.alignment}: ` +
        'the file is damaged',
      subject,
    );
  }
  const offset = section.start + row.relativeOffset;
  if (BigInt(offset) + row.bytes > BigInt(section.fileBytes)) {
    throw new GgufError(
      'tensor-outside-file',
      `${section.file} has ${section.fileBytes} bytes, but ${quoted(row.name)} ends at ` +
        `${BigInt(offset) + row.bytes}: the download is incomplete, fetch it again`,
      subject,
    );
  }
  return {
    name: row.name,
    type: row.type,
    dims: row.dims,
    offset,
    bytes: Number(row.bytes),
  };
}
