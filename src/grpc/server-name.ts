import { isIP } from 'node:net';
import { parseListenAddress } from './listen-address.js';

const SUFFIX = '.ip.invalid';

/**
 * The name to ask for over TLS where a client dials an IP address, which is not allowed as one: what the server shows is
 * compared with `hostOf` it. Undefined where the address has a name.
 */
export function serverNameOf(address: string): string | undefined {
  const host = parseListenAddress(address)?.host ?? '';
  return isIP(host) ? `${Buffer.from(host).toString('hex')}${SUFFIX}` : undefined;
}

/** The host that was dialled. */
export function hostOf(serverName: string): string {
  if (!serverName.endsWith(SUFFIX)) return serverName;
  const host = Buffer.from(serverName.slice(0, -SUFFIX.length), 'hex').toString();
  return isIP(host) ? host : serverName;
}
