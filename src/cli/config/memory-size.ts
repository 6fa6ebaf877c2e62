const units: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  tib: 1024 ** 4,
};

/** `24GB`, `24GiB` or `1.5 TiB` as bytes, rounded down; undefined for anything else, and from 2^53 bytes on. */
export function parseMemorySize(text: string): bigint | undefined {
  const [, number = '', unit = ''] = /^(\d{1,16}(?:\.\d{1,6})?) ?([kmgt]?i?b)$/i.exec(text.trim()) ?? [];
  const bytes = Math.floor(Number(number) * (units[unit.toLowerCase()] ?? Number.NaN));
  return Number.isSafeInteger(bytes) && number !== '' ? BigInt(bytes) : undefined;
}
