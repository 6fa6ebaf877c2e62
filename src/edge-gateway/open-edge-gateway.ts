import { createServer } from 'node:net';
import { type EdgeAddress, insecurity, parseEdgeAddress } from './edge-address.js';
import { EdgeGateway } from './edge-gateway.js';
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
  readonly timings?: Partial<GatewayTimings> | undefined;
  /** A sentence for the log. */
  onNote(sentence: string): void;
}

export type OpenGatewayOutcome = { readonly kind: 'open'; readonly gateway: EdgeGateway } | GatewayRefusal;

/** Opens both listeners of a gateway, or none; refuses MALFORMED_FLAG, INSECURE_ADDRESS and LISTEN_FAILED. */
export async function openEdgeGateway(config: GatewayConfig): Promise<OpenGatewayOutcome> {
  const made = makeResolver(config);
  if (made.kind === 'refused') return made;
  const { localSocket, insecureEdges = false } = config;
  const checked = checkListen(config.listen, insecureEdges);
  if (checked?.kind === 'refused') return checked;
  const gateway = new EdgeGateway({
    local: { server: createServer(socketOptions), address: { kind: 'unix', path: localSocket } },
    remote: checked && { server: createServer(socketOptions), address: checked.address },
    resolver: made.resolver,
    insecureEdges,
    timings: { ...defaultGatewayTimings, ...config.timings },
    onNote: (sentence) => config.onNote(sentence),
  });
  const refusal = await gateway.listen();
  if (refusal === undefined) return { kind: 'open', gateway };
  await gateway.close();
  return refusal;
}

function checkListen(
  listen: string | undefined,
  insecureEdges: boolean,
): { readonly kind: 'address'; readonly address: EdgeAddress } | GatewayRefusal | undefined {
  if (listen === undefined) return undefined;
  const parsed = parseEdgeAddress(listen);
  if (parsed.kind === 'malformed') return refuse('MALFORMED_FLAG', `${gatewayFlags.listen} ${parsed.problem}`);
  const problem = insecurity(parsed.address, insecureEdges);
  return problem === undefined ? parsed : refuse('INSECURE_ADDRESS', `${gatewayFlags.listen} is ${problem}`);
}
