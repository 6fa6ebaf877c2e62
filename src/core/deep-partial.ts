type Whole = Date | Uint8Array | string | number | bigint | boolean | undefined;

/** A message of which any field may be left out, at any depth; what is left out has its default. Of a oneof, case and value are named. */
export type DeepPartial<T> = T extends Whole
  ? T
  : T extends (infer Item)[]
    ? DeepPartial<Item>[]
    : T extends { $case: string; value: unknown }
      ? { $case: T['$case']; value: DeepPartial<T['value']> }
      : { [Field in keyof T]?: DeepPartial<T[Field]> };
