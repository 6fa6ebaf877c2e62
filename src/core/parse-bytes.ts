const UNITS: Readonly<Record<string, bigint>> = {
  b: 1n,
  kb: 10n ** 3n,
  mb: 10n ** 6n,
  gb: 10n ** 9n,
  tb: 10n ** 12n,
  kib: 2n ** 10n,
  mib: 2n ** 20n,
  gib: 2n ** 30n,
  tib: 2n ** 40n,
};

/** Reads "24GB", "1.5 GiB" or "800 MiB", of any case, rounded down; undefined for anything else and for nothing. */
export function parseBytes(text: string): bigint | undefined {
  const [, whole = '', fraction = '', unit = ''] =
    /^(\d{1,6})(?:\.(\d{1,6}))?\s*([a-z]{1,3})$/i.exec(text.trim()) ?? [];
  const scale = UNITS[unit.toLowerCase()];
  if (scale === undefined) return undefined;
  const bytes = (BigInt(whole + fraction) * scale) / 10n ** BigInt(fraction.length);
  return bytes > 0n ? bytes : undefined;
}
