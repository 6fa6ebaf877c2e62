import { isIP } from 'node:net';

const SUFFIX = '.ip.invalid';

/**
 * A name that stands for an IP address where TLS asks for a name: RFC 6066 forbids addresses there, and Node warns of them on
 * the terminal of whoever typed one. Undefined for a host that has a name.
 */
export function ipServerName(host: string): string | undefined {
  const version = isIP(host);
  if (version === 0) return undefined;
  return version === 4 ? `v4-${host.replaceAll('.', '-')}${SUFFIX}` : `v6-${host.replaceAll(':', '-')}${SUFFIX}`;
}

/** The host that a name stands for: itself, unless `ipServerName` made it. */
export function hostOfServerName(name: string): string {
  const [, version, digits = ''] = /^v([46])-(.+)\.ip\.invalid$/.exec(name) ?? [];
  return version === undefined ? name : digits.replaceAll('-', version === '4' ? '.' : ':');
}
