import { limits } from '../core/limits.js';
import { type EdgeAddress, type ParsedEdgeAddress, parseEdgeAddress } from './edge-address.js';
import { gatewayFlags } from './gateway-flags.js';
import { type GatewayRefusal, refuse } from './gateway-refusal.js';

/** How node ids become addresses, as an operator writes it. */
export interface ResolverConfig {
  /** `2=laptop.local:7400` or `3=unix:/run/x/3.sock`; `limits.nodes` at most, one per node. */
  readonly addresses?: readonly string[] | undefined;
  /** `node-{node_id}.local:7400` or `unix:/run/x/{node_id}.sock`, for every node without an address of its own. */
  readonly template?: string | undefined;
}

export type ResolverOutcome = { readonly kind: 'resolver'; readonly resolver: Resolver } | GatewayRefusal;

export type Resolution = { readonly kind: 'address'; readonly address: EdgeAddress } | GatewayRefusal;

const PLACEHOLDER = '{node_id}';
const LARGEST_ID = 2n ** 64n - 1n;

/** Reads an operator's map and template; refuses MALFORMED_FLAG with a sentence that names the entry. */
export function makeResolver({ addresses = [], template }: ResolverConfig): ResolverOutcome {
  if (addresses.length > limits.nodes) {
    return malformed(
      `${gatewayFlags.address} is there ${addresses.length} times, ${limits.nodes} at most are possible`,
    );
  }
  const known = new Map<bigint, EdgeAddress>();
  for (const entry of addresses) {
    const read = readEntry(entry);
    if (read.kind === 'refused') return read;
    if (known.has(read.nodeId)) {
      return malformed(`${gatewayFlags.address} ${entry} is the second address of node ${read.nodeId}: leave one`);
    }
    known.set(read.nodeId, read.address);
  }
  const problem = template === undefined ? undefined : problemOfTemplate(template);
  if (problem !== undefined) return malformed(`${gatewayFlags.template} ${template} ${problem}`);
  return { kind: 'resolver', resolver: new Resolver(known, template) };
}

/** Node ids to addresses. What it knows never changes; names in it are looked up anew at each attempt to connect. */
export class Resolver {
  constructor(
    private readonly known: ReadonlyMap<bigint, EdgeAddress>,
    private readonly template: string | undefined,
  ) {}

  /** The address of a node; UNKNOWN_NODE without one, MALFORMED_FLAG when the template gives none for this id. */
  resolve(nodeId: bigint): Resolution {
    const address = this.known.get(nodeId);
    if (address !== undefined) return { kind: 'address', address };
    const flags = gatewayFlags;
    if (this.template === undefined) {
      const advice = `set ${flags.address} ${nodeId}=host:port, or ${flags.template} for all nodes`;
      return refuse('UNKNOWN_NODE', `nothing says where node ${nodeId} is: ${advice}`);
    }
    const parsed = parseFilled(this.template, nodeId);
    if (parsed.kind === 'address') return parsed;
    const advice = `set ${flags.address} ${nodeId}=host:port for this node`;
    return malformed(`${flags.template} ${this.template} ${parsed.problem}; or ${advice}`);
  }
}

function readEntry(
  entry: string,
): { readonly kind: 'entry'; readonly nodeId: bigint; readonly address: EdgeAddress } | GatewayRefusal {
  const { address: flag } = gatewayFlags;
  const match = /^(\d{1,20})=(.+)$/.exec(entry);
  const nodeId = match === null ? 0n : BigInt(match[1]!);
  if (nodeId === 0n || nodeId > LARGEST_ID) {
    return malformed(`${flag} ${entry} does not begin with a node id: write it like 2=laptop.local:7400`);
  }
  const parsed = mustBeReachable(parseEdgeAddress(match![2]!));
  if (parsed.kind === 'malformed') return malformed(`${flag} ${entry} ${parsed.problem}`);
  return { kind: 'entry', nodeId, address: parsed.address };
}

function problemOfTemplate(template: string): string | undefined {
  if (!template.includes(PLACEHOLDER)) {
    return `would give all nodes one address: put ${PLACEHOLDER} where they differ, or use ${gatewayFlags.address}`;
  }
  const other = /\{[^}]*\}?|\}/.exec(template.replaceAll(PLACEHOLDER, ''));
  if (other !== null) return `has ${other[0]}, which stands for nothing: ${PLACEHOLDER} is all there is`;
  const parsed = parseFilled(template, 1n);
  return parsed.kind === 'malformed' ? parsed.problem : undefined;
}

function parseFilled(template: string, nodeId: bigint): ParsedEdgeAddress {
  return mustBeReachable(parseEdgeAddress(template.replaceAll(PLACEHOLDER, `${nodeId}`)));
}

function mustBeReachable(parsed: ParsedEdgeAddress): ParsedEdgeAddress {
  if (parsed.kind === 'malformed' || parsed.address.kind === 'unix' || parsed.address.port > 0) return parsed;
  return { kind: 'malformed', problem: 'has port 0, which nobody can connect to: write the port that the node has' };
}

function malformed(message: string): GatewayRefusal {
  return refuse('MALFORMED_FLAG', message);
}
