const MILLIS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads `300ms`, `5s`, `2m`, `1h`, `30d` or `0` as milliseconds; undefined when it is none of them. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const match = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text);
  return match ? Number(match[1]) * (MILLIS[match[2] ?? ''] ?? Number.NaN) : undefined;
}

/** Milliseconds as `parseDuration` reads them, in the largest unit that divides them. */
export function formatDuration(millis: number): string {
  if (millis === 0) return '0';
  const unit = ['d', 'h', 'm', 's'].find((name) => millis % (MILLIS[name] ?? 1) === 0) ?? 'ms';
  return `${millis / (MILLIS[unit] ?? 1)}${unit}`;
}

/** How long ago something was, for people: `12s`, `5m`, `3h`, `2d`. A clock that runs ahead gives `0s`. */
export function formatAge(then: Date, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - then.getTime()) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
