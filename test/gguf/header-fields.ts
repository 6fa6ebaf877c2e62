/** A length, count, type or offset in a header: what a hostile file would change. */
export interface HeaderField {
  readonly offset: number;
  readonly bytes: 4 | 8;
}

const NUMBER_BYTES: Record<number, number> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };
const STRING = 8;
const ARRAY = 9;

/** Finds the fields of a valid header by a walk of its own, so that a mutation can aim at them. */
export function headerFields(header: Uint8Array): HeaderField[] {
  const bytes = Buffer.from(header);
  const lengthBytes = bytes.readUInt32LE(4) === 1 ? 4 : 8;
  const fields: HeaderField[] = [{ offset: 4, bytes: 4 }];
  let at = 8;
  const field = (size: 4 | 8): number => {
    fields.push({ offset: at, bytes: size });
    at += size;
    return size === 4 ? bytes.readUInt32LE(at - 4) : Number(bytes.readBigUInt64LE(at - 8));
  };
  const string = () => {
    const length = field(lengthBytes);
    at += length;
  };
  const value = (type: number) => {
    if (type === STRING) string();
    else if (type === ARRAY) array();
    else at += NUMBER_BYTES[type]!;
  };
  const array = () => {
    const type = field(4);
    const length = field(lengthBytes);
    for (let index = 0; index < length; index++) value(type);
  };
  const tensors = field(lengthBytes);
  const keys = field(lengthBytes);
  for (let index = 0; index < keys; index++) {
    string();
    value(field(4));
  }
  for (let index = 0; index < tensors; index++) {
    string();
    const dims = field(4);
    for (let dim = 0; dim < dims; dim++) field(lengthBytes);
    field(4);
    field(8);
  }
  return fields;
}
