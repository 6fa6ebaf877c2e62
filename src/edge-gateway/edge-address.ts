import { limits } from '../core/limits.js';
import { isLoopback, parseListenAddress } from '../grpc/listen-address.js';
import { gatewayFlags } from './gateway-flags.js';

/** Where edges of a node arrive. Known to the data plane alone. */
export type EdgeAddress =
  | {
      readonly kind: 'tcp';
      /** Name or IP address, without brackets. */
      readonly host: string;
      /** 0 lets the system choose, and is nothing to connect to. */
      readonly port: number;
    }
  | {
      readonly kind: 'unix';
      /** Absolute, `limits.socketPathBytes` at most. */
      readonly path: string;
    };

export type ParsedEdgeAddress =
  | { readonly kind: 'address'; readonly address: EdgeAddress }
  /** `problem` goes on a sentence that begins with the flag. */
  | { readonly kind: 'malformed'; readonly problem: string };

/** Reads `host:port`, `[v6]:port` or `unix:/path`. */
export function parseEdgeAddress(text: string): ParsedEdgeAddress {
  if (text.startsWith('unix:')) return parsePath(text.slice('unix:'.length));
  const parsed = parseListenAddress(text);
  return parsed === undefined
    ? malformed(`has no address in "${text}": write host:port, such as laptop.local:7400, or unix:/path`)
    : { kind: 'address', address: { kind: 'tcp', ...parsed } };
}

/** As `parseEdgeAddress` reads it. */
export function formatEdgeAddress(address: EdgeAddress): string {
  if (address.kind === 'unix') return `unix:${address.path}`;
  const { host, port } = address;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** How a node protects its edges: by mutual TLS, or by nothing where that is allowed. */
export type EdgeProtection = 'mutual-tls' | 'loopback-only' | 'none';

/** What speaks against bytes to or from an address, as the end of a sentence; undefined when nothing does. */
export function insecurity(address: EdgeAddress, protection: EdgeProtection): string | undefined {
  const text = formatEdgeAddress(address);
  if (protection !== 'loopback-only' || address.kind === 'unix' || isLoopback(text)) return undefined;
  return `${text}, and nothing is encrypted or authenticated on the way: join this node with a token, or add ${gatewayFlags.insecure} on a network you trust`;
}

function parsePath(path: string): ParsedEdgeAddress {
  const bytes = Buffer.byteLength(path);
  if (!path.startsWith('/')) return malformed(`has "unix:${path}", which is no absolute path: write unix:/path`);
  if (bytes > limits.socketPathBytes) {
    return malformed(`has a socket path of ${bytes} bytes, ${limits.socketPathBytes} at most are possible: ${path}`);
  }
  return { kind: 'address', address: { kind: 'unix', path } };
}

function malformed(problem: string): ParsedEdgeAddress {
  return { kind: 'malformed', problem };
}
