import { isIP } from 'node:net';

export interface ListenAddress {
  /** Name or IP address, without brackets. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

/** Reads `host:port` or `[v6]:port`; undefined when it is neither. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const [, bracketed, plain, digits] = match;
  const port = Number(digits);
  if (port > 65_535 || (bracketed !== undefined && isIP(bracketed) !== 6)) return undefined;
  return { host: bracketed ?? plain ?? '', port };
}

/** An address that was given, with the port that it has become. */
export function withPort(address: string, port: number): string {
  return `${address.slice(0, address.lastIndexOf(':'))}:${port}`;
}

/** Whether only this machine can connect to `host:port`. False for a text that is no address. */
export function isLoopback(text: string): boolean {
  const host = parseListenAddress(text)
    ?.host.toLowerCase()
    .replace(/^::ffff:(?=\d+\.)/, '');
  if (host === undefined) return false;
  if (isIP(host) === 4) return host.startsWith('127.');
  return host === 'localhost' || /^(0*:)*0*1$/.test(host);
}
