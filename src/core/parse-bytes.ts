const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

/** `24GB`, `24 GiB` or `1.5TiB` as bytes, rounded down; undefined for anything else, and from 2^53 bytes on. */
export function parseBytes(text: string): bigint | undefined {
  const [, number = '', unit = ''] = /^(\d{1,16}(?:\.\d{1,6})?) ?([kmgt]?i?b)$/i.exec(text.trim()) ?? [];
  const bytes = Math.floor(Number(number) * (UNITS[unit.toLowerCase()] ?? Number.NaN));
  return number !== '' && Number.isSafeInteger(bytes) ? BigInt(bytes) : undefined;
}
