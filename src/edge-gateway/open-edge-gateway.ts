import { createServer } from 'node:net';
import type { Credentials } from '../pki/credential-folder.js';
import { type EdgeAddress, type EdgeProtection, insecurity, parseEdgeAddress } from './edge-address.js';
import { EdgeGateway } from './edge-gateway.js';
import { EdgeTls } from './edge-tls.js';
import { gatewayFlags } from './gateway-flags.js';
import { type GatewayRefusal, refuse } from './gateway-refusal.js';
import { defaultGatewayTimings, type GatewayTimings } from './gateway-timings.js';
import { makeResolver, type ResolverConfig } from './resolver.js';
import { socketOptions } from './socket-options.js';

/** How a node's gateway runs. */
export interface GatewayConfig extends ResolverConfig {
  /** Unix socket for the outbound edges of this node's workers; its folder is made when it is missing. */
  readonly localSocket: string;
  /** `host:port` or `unix:/path` for edges from other nodes; without it they are refused. */
  readonly listen?: string | undefined;
  /** Allows plain TCP to and from other machines. */
  readonly insecureEdges?: boolean | undefined;
  /** What the node shows, the newest; the same object while it is the same. With it, TCP is mutual TLS and nothing else. */
  readonly credentials?: (() => Credentials) | undefined;
  readonly timings?: Partial<GatewayTimings> | undefined;
  /** A sentence for the log. */
  onNote(sentence: string): void;
}

export type OpenGatewayOutcome = { readonly kind: 'open'; readonly gateway: EdgeGateway } | GatewayRefusal;

/**
 * Opens both listeners of a gateway, or none; refuses MALFORMED_FLAG, INSECURE_ADDRESS, ALREADY_SECURE,
 * CREDENTIALS_UNUSABLE and LISTEN_FAILED.
 */
export async function openEdgeGateway(config: GatewayConfig): Promise<OpenGatewayOutcome> {
  const made = makeResolver(config);
  if (made.kind === 'refused') return made;
  const secured = secure(config);
  if (secured.kind === 'refused') return secured;
  const { tls, protection } = secured;
  const checked = checkListen(config.listen, protection);
  if (checked?.kind === 'refused') return checked;
  const timings = { ...defaultGatewayTimings, ...config.timings };
  const gateway = new EdgeGateway({
    local: { server: createServer(socketOptions), address: { kind: 'unix', path: config.localSocket } },
    remote: checked && { server: serverFor(checked.address, tls), address: checked.address },
    resolver: made.resolver,
    protection,
    tls,
    timings,
    onNote: (sentence) => config.onNote(sentence),
  });
  const refusal = await gateway.listen();
  if (refusal === undefined) return { kind: 'open', gateway };
  await gateway.close();
  return refusal;
}

interface Secured {
  readonly kind: 'secured';
  readonly tls: EdgeTls | undefined;
  readonly protection: EdgeProtection;
}

function secure({ credentials, insecureEdges = false }: GatewayConfig): Secured | GatewayRefusal {
  if (credentials === undefined) {
    return { kind: 'secured', tls: undefined, protection: insecureEdges ? 'none' : 'loopback-only' };
  }
  if (insecureEdges) {
    const message = `this node has a certificate, and its edges go over mutual TLS: leave out ${gatewayFlags.insecure}`;
    return refuse('ALREADY_SECURE', message);
  }
  try {
    return { kind: 'secured', tls: new EdgeTls(credentials), protection: 'mutual-tls' };
  } catch (error) {
    const problem = `certificate and key of this node cannot be used for its edges (${(error as Error).message})`;
    return refuse('CREDENTIALS_UNUSABLE', `${problem}: join it anew with a token`);
  }
}

/** A Unix path is this user's alone, who could read the key as well. */
function serverFor(address: EdgeAddress, tls: EdgeTls | undefined) {
  return tls && address.kind === 'tcp' ? tls.createServer() : createServer(socketOptions);
}

function checkListen(
  listen: string | undefined,
  protection: EdgeProtection,
): { readonly kind: 'address'; readonly address: EdgeAddress } | GatewayRefusal | undefined {
  if (listen === undefined) return undefined;
  const parsed = parseEdgeAddress(listen);
  if (parsed.kind === 'malformed') return refuse('MALFORMED_FLAG', `${gatewayFlags.listen} ${parsed.problem}`);
  const problem = insecurity(parsed.address, protection);
  return problem === undefined ? parsed : refuse('INSECURE_ADDRESS', `${gatewayFlags.listen} is ${problem}`);
}
