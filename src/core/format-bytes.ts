const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** Bytes for people: `512 B`, `1.5 KiB`, `240 GiB`. One decimal below 100, none above. */
export function formatBytes(bytes: bigint | number): string {
  let value = Number(bytes);
  let unit = 0;
  // 1023.95 would be shown as 1024.0: the next unit says it better.
  while (value >= 1023.95 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit > 0 && value < 99.95 ? 1 : 0;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}
