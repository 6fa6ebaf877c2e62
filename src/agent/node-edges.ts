import { rmSync } from 'node:fs';
import type { PrepareStage } from '../../gen/stageplane/v1/worker.js';
import { type Identity, stageName } from '../core/machine/agent/state.js';
import type { StageKey } from '../core/machine/state.js';
import type { Registration } from '../edge-gateway/edge-gateway.js';
import type { GatewayRefusal } from '../edge-gateway/gateway-refusal.js';
import {
  checkNodeGateway,
  type EdgeFlags,
  type OpenNodeGatewayOutcome,
  openNodeGateway,
  removeOwnFolder,
} from '../edge-gateway/open-node-gateway.js';
import { ownEdgeFolder, refuseLongPath, stageSocket } from '../edge-gateway/runtime-folder.js';
import type { Credentials } from '../pki/credential-folder.js';

export interface NodeEdgesOptions {
  readonly flags: EdgeFlags;
  /** Of the agent. */
  readonly instanceId: string;
  /** What it shows to other nodes, the newest; absent when it has not joined by a token. */
  readonly credentials?: (() => Credentials) | undefined;
  /** A sentence for the log. */
  onNote(sentence: string): void;
}

/** What of an identity decides where a node listens. */
type EdgeIdentity = Pick<Identity, 'clusterId' | 'nodeId'>;

/** Where a worker listens and connects; both are empty for a stage without edges. */
export type StageSockets = Pick<PrepareStage, 'inboundSocket' | 'outboundSocket'>;

export type ConnectOutcome =
  | { readonly kind: 'connected'; readonly sockets: StageSockets }
  /** The stage was released in the meantime. */
  | { readonly kind: 'released' }
  | GatewayRefusal;

interface StageEnd {
  readonly socket: string;
  readonly registration: Registration;
}

/** The edges of a node's stages: one gateway, opened once it is known who the node is, and the sockets of each stage. */
export class NodeEdges {
  readonly #folder: string;
  /** By `stageName`; `opening` while the gateway is waited for. At most as many as there are workers (I16). */
  readonly #stages = new Map<string, StageEnd | { readonly kind: 'opening' }>();
  #gateway: { readonly of: string; readonly opened: Promise<OpenNodeGatewayOutcome> } | undefined;

  constructor(private readonly options: NodeEdgesOptions) {
    this.#folder = ownEdgeFolder(options.instanceId);
  }

  /** Before the agent joins: opens what does not need a Welcome. A refusal ends the agent. */
  async begin(identity: EdgeIdentity): Promise<GatewayRefusal | undefined> {
    const { flags, instanceId } = this.options;
    if (flags.listen === undefined && identity.clusterId === '') return checkNodeGateway(flags, instanceId);
    const opened = await this.open(identity);
    return opened.kind === 'refused' ? opened : undefined;
  }

  /** Opens the gateway, or answers with the open one. One that was refused is tried again. */
  open(identity: EdgeIdentity): Promise<OpenNodeGatewayOutcome> {
    // An orchestrator that came back from a backup may know this agent under another id.
    const of = this.options.flags.listen ?? `${identity.clusterId}/${identity.nodeId}`;
    if (this.#gateway?.of === of) return this.#gateway.opened;
    const opened = this.#openAfter(this.#gateway?.opened, identity);
    const gateway = { of, opened };
    this.#gateway = gateway;
    void opened.then(({ kind }) => {
      if (kind === 'refused' && this.#gateway === gateway) this.#gateway = undefined;
    });
    return opened;
  }

  /**
   * Lets the edges of a stage through, before its worker hears of its sockets.
   *
   * @param onDistrust its outbound edge meets somebody else than the planned node; the sentence says whom
   */
  async connect(
    key: StageKey,
    prepare: PrepareStage,
    identity: EdgeIdentity,
    onDistrust?: (sentence: string) => void,
  ): Promise<ConnectOutcome> {
    const { inbound, outbound } = prepare.provision ?? {};
    if (!inbound || !outbound) return { kind: 'connected', sockets: { inboundSocket: '', outboundSocket: '' } };
    const name = stageName(key);
    const opening = { kind: 'opening' } as const;
    this.#stages.set(name, opening);
    const opened = await this.open(identity);
    if (this.#stages.get(name) !== opening) return { kind: 'released' };
    if (opened.kind === 'refused') return opened;
    const { gateway } = opened;
    const socket = stageSocket(this.#folder, key);
    const { nodeId } = identity;
    const { consumerNodeId } = outbound;
    const registered =
      refuseLongPath(socket) ??
      gateway.register({
        ...key,
        nodeId,
        inbound: { edgeId: inbound.edgeId, producerNodeId: prepare.producerNodeId, socket },
        outbound: { edgeId: outbound.edgeId, consumerNodeId },
        onDistrust,
      });
    if (registered.kind === 'refused') return registered;
    this.#stages.set(name, { socket, registration: registered.registration });
    // The stage after this one has its socket here as well: a gateway between them would only copy.
    const next = stageSocket(this.#folder, { ...key, stageIndex: key.stageIndex + 1 });
    const outboundSocket = consumerNodeId === nodeId ? next : gateway.localSocket;
    return { kind: 'connected', sockets: { inboundSocket: socket, outboundSocket } };
  }

  /** The stage's worker is reaped. */
  release(key: StageKey): void {
    const name = stageName(key);
    const stage = this.#stages.get(name);
    this.#stages.delete(name);
    if (stage === undefined || !('registration' in stage)) return;
    stage.registration.remove();
    // A worker that was killed leaves it.
    rmSync(stage.socket, { force: true });
  }

  /** Every worker is reaped: leaves nothing behind. */
  async close(): Promise<void> {
    await closeGateway(this.#gateway?.opened);
    removeOwnFolder(this.options.instanceId);
  }

  async #openAfter(
    previous: Promise<OpenNodeGatewayOutcome> | undefined,
    { clusterId, nodeId }: EdgeIdentity,
  ): Promise<OpenNodeGatewayOutcome> {
    await closeGateway(previous);
    const { flags, instanceId, credentials, onNote } = this.options;
    return openNodeGateway({ flags, ownerId: instanceId, node: { clusterId, nodeId }, credentials, onNote });
  }
}

async function closeGateway(opening: Promise<OpenNodeGatewayOutcome> | undefined): Promise<void> {
  const opened = await opening;
  if (opened?.kind === 'open') await opened.gateway.close();
}
