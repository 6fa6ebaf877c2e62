import type { AddressInfo, Server } from 'node:net';
import { limits } from '../core/limits.js';
import { edgeName } from '../worker/edge/edge-preamble.js';
import type { DialFailure } from './dial-onward.js';
import { type Arrival, Doorway } from './doorway.js';
import { type EdgeAddress, type EdgeProtection, formatEdgeAddress, insecurity } from './edge-address.js';
import { EdgeTable, type KnownEdge, knownEdge } from './edge-table.js';
import type { EdgeTls } from './edge-tls.js';
import { GatewayCounters, type GatewayFigures, type RefusalKind } from './gateway-counters.js';
import { gatewayFlags } from './gateway-flags.js';
import { type GatewayRefusal, refuse } from './gateway-refusal.js';
import type { GatewayTimings } from './gateway-timings.js';
import { listenAt } from './listen-at.js';
import { Passage } from './passage.js';
import type { Resolver } from './resolver.js';
import type { StageEdges } from './stage-edges.js';

/** A server that does not listen yet, and where it shall. */
export interface Listener {
  readonly server: Server;
  readonly address: EdgeAddress;
}

/** What a gateway works with. */
export interface GatewayParts {
  /** For this node's workers. */
  readonly local: Listener & { readonly address: Extract<EdgeAddress, { kind: 'unix' }> };
  /** For other nodes. Absent: no edge comes from another node. */
  readonly remote?: Listener | undefined;
  readonly resolver: Resolver;
  readonly protection: EdgeProtection;
  /** With mutual TLS. */
  readonly tls?: EdgeTls | undefined;
  readonly timings: GatewayTimings;
  /** A sentence for the log. */
  onNote(sentence: string): void;
}

/** A stage that a gateway knows. */
export interface Registration {
  /** The stage has ended: nothing is let through for it any more. May be called again. */
  remove(): void;
}

export type RegisterOutcome = { readonly kind: 'registered'; readonly registration: Registration } | GatewayRefusal;

/** Takes edges into this node and out of it: checks whose they are, finds where they go, and passes their bytes on. */
export class EdgeGateway {
  /** Edges whose consumer is here; their bytes go to its socket. */
  readonly #inbound = new EdgeTable();
  /** Edges whose producer is here; their bytes go to another node, or to a consumer here. */
  readonly #outbound = new EdgeTable();
  readonly #counters = new GatewayCounters();
  readonly #passages = new Set<Passage>();
  readonly #doorways: readonly Doorway[];
  #closed = false;

  constructor(readonly parts: GatewayParts) {
    const { local, remote } = parts;
    this.#doorways = [
      this.#open(local.server, 'from a worker', this.#outbound),
      ...(remote === undefined ? [] : [this.#open(remote.server, 'from another node', this.#inbound)]),
    ];
  }

  /** Where this node's workers bring their outbound edges. */
  get localSocket(): string {
    return this.parts.local.address.path;
  }

  /** Where other nodes bring their edges, as a resolver writes it; undefined when they cannot. */
  get address(): string | undefined {
    const { remote } = this.parts;
    if (remote === undefined) return undefined;
    const { address, server } = remote;
    if (address.kind === 'unix') return formatEdgeAddress(address);
    // The system may have chosen the port; a closed server has none.
    const bound = server.address() as AddressInfo | null;
    return formatEdgeAddress({ ...address, port: bound?.port ?? address.port });
  }

  get figures(): GatewayFigures {
    const passages = [...this.#passages];
    return {
      strangers: this.#doorways.reduce((sum, { strangers }) => sum + strangers, 0),
      dialing: passages.filter(({ phase }) => phase === 'dialing').length,
      spliced: passages.filter(({ phase }) => phase === 'spliced').length,
      heldBytes: passages.reduce((sum, { heldBytes }) => sum + heldBytes, 0),
      edges: this.#inbound.size + this.#outbound.size,
      admitted: this.#counters.admitted,
      refused: { ...this.#counters.refused },
    };
  }

  /** Begins to take connections. After a refusal the gateway is to be closed. */
  async listen(): Promise<GatewayRefusal | undefined> {
    const { local, remote } = this.parts;
    return (await listenAt(local.server, local.address)) ?? (remote && (await listenAt(remote.server, remote.address)));
  }

  /**
   * Lets the edges of a stage through from now on: call it before the stage's worker hears of its sockets. Refuses
   * UNKNOWN_NODE, MALFORMED_FLAG, INSECURE_ADDRESS, NOT_LISTENING, ALREADY_REGISTERED, TOO_MANY_EDGES and CLOSED.
   */
  register(stage: StageEdges): RegisterOutcome {
    const refusal = this.#refusalOf(stage);
    if (refusal !== undefined) return refusal;
    const onward = this.#onwardOf(stage);
    if (onward.kind === 'refused') return onward;
    const { inbound, outbound } = identitiesOf(stage);
    const { socket } = stage.inbound;
    const consumed = knownEdge(inbound, 'the stage that consumes it', () => ({ kind: 'unix', path: socket }));
    const { consumerNodeId } = stage.outbound;
    const { tls } = this.parts;
    const produced = knownEdge(outbound, `node ${consumerNodeId}`, onward.address, {
      planned: tls && { tls, nodeId: consumerNodeId },
      onDistrust: stage.onDistrust,
    });
    this.#inbound.add(consumed);
    this.#outbound.add(produced);
    const remove = () => {
      this.#inbound.remove(consumed);
      this.#outbound.remove(produced);
      for (const { passages } of [consumed, produced]) for (const passage of passages) passage.stopSoon();
    };
    return { kind: 'registered', registration: { remove } };
  }

  /** Ends every connection and listens no more. Resolves when no socket is left. */
  async close(): Promise<void> {
    this.#closed = true;
    const closed = this.#doorways.map((doorway) => doorway.close());
    const over = [...this.#passages].map((passage) => passage.over);
    for (const passage of this.#passages) passage.stop();
    await Promise.all([...closed, ...over]);
  }

  #refusalOf(stage: StageEdges): GatewayRefusal | undefined {
    const { inbound, outbound } = identitiesOf(stage);
    if (this.#closed) return refuse('CLOSED', 'the edge gateway is closed: start the agent anew');
    if (this.#inbound.at(inbound) ?? this.#outbound.at(outbound)) {
      const message = `${edgeName(inbound)} or ${edgeName(outbound)} is registered already: remove its stage first`;
      return refuse('ALREADY_REGISTERED', message);
    }
    if (this.#inbound.size >= limits.gatewayEdges) {
      const message = `the edge gateway has ${limits.gatewayEdges} stages, and no more are possible: stop some of them`;
      return refuse('TOO_MANY_EDGES', message);
    }
    const { nodeId, runId } = stage;
    const { producerNodeId, edgeId } = stage.inbound;
    if (producerNodeId === nodeId || this.parts.remote !== undefined) return undefined;
    const message = `edge ${edgeId} of run ${runId} comes from node ${producerNodeId}, and node ${nodeId} takes no edges from others: set ${gatewayFlags.listen}`;
    return refuse('NOT_LISTENING', message);
  }

  /** Where the outbound edge of a stage goes. */
  #onwardOf(stage: StageEdges): { readonly kind: 'onward'; readonly address: KnownEdge['onward'] } | GatewayRefusal {
    const { consumerNodeId } = stage.outbound;
    if (consumerNodeId === stage.nodeId) {
      const { outbound } = identitiesOf(stage);
      return { kind: 'onward', address: () => this.#inbound.at(outbound)?.onward() };
    }
    const resolved = this.parts.resolver.resolve(consumerNodeId);
    if (resolved.kind === 'refused') return resolved;
    const { address } = resolved;
    const problem = insecurity(address, this.parts.protection);
    if (problem !== undefined) return refuse('INSECURE_ADDRESS', `node ${consumerNodeId} is at ${problem}`);
    return { kind: 'onward', address: () => address };
  }

  #open(server: Server, origin: string, table: EdgeTable): Doorway {
    return new Doorway(server, this.parts.timings, {
      onArrival: (arrival) => this.#admit(arrival, origin, table),
      onRefusal: (kind, problem) => this.#refuse(kind, `a connection ${origin} was refused: it ${problem}`),
      onNote: (sentence) => this.parts.onNote(sentence),
    });
  }

  #admit(arrival: Arrival, origin: string, table: EdgeTable): void {
    const refuse = (kind: RefusalKind, problem: string) => {
      arrival.socket.destroy();
      this.#refuse(kind, `a connection ${origin} was refused: it ${problem}`);
    };
    const impostor = impostorOf(arrival);
    if (impostor !== undefined) return refuse('other-node', impostor);
    const found = table.find(arrival.identity);
    if (found.kind === 'foreign') return refuse('foreign', found.problem);
    this.#pass(arrival, found.edge);
  }

  #pass(arrival: Arrival, edge: KnownEdge): void {
    this.#counters.admitted += 1;
    const dial = {
      onward: edge.onward,
      planned: edge.planned,
      timings: this.parts.timings,
      onTrouble: (problem: string) => this.#trouble(edge, problem),
    };
    const passage = new Passage(arrival, dial, (failure) => this.#failed(edge, failure));
    this.#passages.add(passage);
    edge.passages.add(passage);
    void passage.over.then(() => {
      this.#passages.delete(passage);
      edge.passages.delete(passage);
    });
  }

  #failed(edge: KnownEdge, failure: DialFailure): void {
    const isWrong = failure.kind === 'distrusted';
    this.#counters.refuse(isWrong ? failure.reason : 'unreachable');
    this.#trouble(edge, failure.problem);
    if (!isWrong) return;
    edge.onDistrust?.(`${edgeName(edge.identity)} goes to ${edge.towards}, but ${failure.problem}`);
    edge.onDistrust = undefined;
  }

  #refuse(kind: RefusalKind, sentence: string): void {
    if (this.#counters.refuse(kind)) this.parts.onNote(sentence);
  }

  /** Once per edge: its producer goes on asking. */
  #trouble(edge: KnownEdge, problem: string): void {
    if (edge.troubled) return;
    edge.troubled = true;
    const { identity, towards } = edge;
    const advice = `look whether it runs there; if it is reached elsewhere, set ${gatewayFlags.address} here`;
    this.parts.onNote(`${edgeName(identity)} does not reach ${towards} yet (${problem}): ${advice}`);
  }
}

/** The preamble may say what it likes: who brings an edge is who the certificate says. */
function impostorOf({ identity, shownNodeId }: Arrival): string | undefined {
  const { producerNodeId } = identity;
  if (shownNodeId === undefined || shownNodeId === producerNodeId) return undefined;
  const advice = `make sure that node ${shownNodeId} has the certificate and the data folder of its own`;
  return `brings ${edgeName(identity)}, which node ${producerNodeId} produces, with the certificate of node ${shownNodeId}: ${advice}`;
}

function identitiesOf({ runId, generation, nodeId, inbound, outbound }: StageEdges) {
  const run = { runId, generation };
  return {
    inbound: { ...run, edgeId: inbound.edgeId, producerNodeId: inbound.producerNodeId },
    outbound: { ...run, edgeId: outbound.edgeId, producerNodeId: nodeId },
  };
}
