/** The parts of a shard's name, `<prefix>-00001-of-00003.gguf`. */
export interface ShardName {
  /** Path and name up to the dash. */
  readonly prefix: string;
  /** 1 to `count`; one more than the file's `split.no`. */
  readonly number: number;
  readonly count: number;
}

const pattern = /^(?<prefix>.*)-(?<number>\d{5})-of-(?<count>\d{5})\.gguf$/s;

/** The parts of a path that names a shard, or undefined for any other path. */
export function parseShardName(path: string): ShardName | undefined {
  const parts = pattern.exec(path)?.groups;
  if (parts === undefined) return undefined;
  return {
    prefix: parts.prefix!,
    number: Number(parts.number),
    count: Number(parts.count),
  };
}

/** The path of a shard, as llama.cpp's gguf-split writes it. */
export function shardPath({ prefix, number, count }: ShardName): string {
  const digits = (value: number) => String(value).padStart(5, '0');
  return `${prefix}-${digits(number)}-of-${digits(count)}.gguf`;
}
