import { randomBytes, randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { limits } from '../core/limits.js';
import type { ClusterEvent } from '../core/machine/events.js';
import type { StoredWorld } from '../core/machine/state.js';
import type { Timings } from '../core/machine/timings.js';
import type { EdgeFlags } from '../edge-gateway/open-node-gateway.js';
import { enrollAddressBeside } from '../grpc/default-ports.js';
import { readAuthorityFolder } from '../pki/authority-folder.js';
import { certificateDigest } from '../pki/certificate-digest.js';
import type { Credentials } from '../pki/credential-folder.js';
import { authorityFolder, isInitialised } from '../pki/is-initialised.js';
import { issueOrchestratorNode } from '../pki/issue-orchestrator-node.js';
import { markSecure } from '../pki/security-mark.js';
import { serialNumber } from '../pki/serial-number.js';
import { prepareDataFolder } from '../process/data-folder.js';
import { lockFolder } from '../process/folder-lock.js';
import { openSqliteStore } from '../store/sqlite/sqlite-store.js';
import type { Store } from '../store/store.js';
import { adminSocketOf } from './admin-socket.js';
import { ApiKeys } from './api-keys.js';
import { AuditLog } from './audit/audit-log.js';
import { refusalsTo } from './audit/refusals-to.js';
import { systemClock } from './clock.js';
import { type FailPoint, withFailPoint } from './fail-point.js';
import { Gatekeeper } from './gatekeeper.js';
import { Metrics } from './metrics/metrics.js';
import { ModelLibrary } from './model-library.js';
import { openAddressProblem } from './open-address.js';
import { type HttpListening, openHttp } from './open-http.js';
import { beginEpoch, openLoop } from './open-loop.js';
import type { Security } from './security.js';
import {
  type Inside,
  type Listening,
  type OrchestratorBodies,
  openAdminServer,
  openEnrollmentServer,
  openPublicServer,
  orchestratorBodies,
} from './servers.js';
import { StartupError } from './startup-error.js';
import { openDataPlane } from './text/data-plane.js';
import type { TokenEndpoints } from './text/token-endpoints.js';

export interface OrchestratorConfig {
  /** `host:port`; port 0 lets the system choose. */
  readonly listen: string;
  readonly dataFolder: string;
  /** Folders that hold models, absolute: a relative path is looked for in each, and launchers name no file outside. */
  readonly models: readonly string[];
  /** Where a relative path is looked for when somebody names it who may name every file; default `models`. */
  readonly operatorModels?: readonly string[] | undefined;
  /** `host:port` where those without a certificate redeem tokens; by default two ports after `listen`. Only after `init`. */
  readonly enrollListen?: string | undefined;
  /** `host:port` of HTTP; nobody is served over HTTP without it. */
  readonly http?: string | undefined;
  /** Nobody asked for that address: when somebody else has it, the rest starts without HTTP. */
  readonly isHttpOptional?: boolean;
  /** Milliseconds of the certificates that it issues; default `limits.certificateMillis`. */
  readonly certificateLifetime?: number | undefined;
  /** Nobody shows a certificate, in words: refused where `init` was run. */
  readonly insecure: boolean;
  /** With `insecure`, allows an address that other machines reach. */
  readonly trustNetwork?: boolean | undefined;
  readonly timings: Timings;
  /** Where token edges go and come from; nothing need be said when all nodes are on this machine. */
  readonly edges?: EdgeFlags | undefined;
  /** Instead of one endpoint process per run. */
  readonly tokenEndpoints?: ((post: (event: ClusterEvent) => void) => TokenEndpoints) | undefined;
  /** Ends the process somewhere on its way, in crash tests. */
  readonly failPoint?: FailPoint | undefined;
  readonly logger: Logger;
}

export interface Orchestrator {
  /** `host:port` with the real port. */
  readonly address: string;
  /** Where tokens are redeemed; undefined where nobody needs one. */
  readonly enrollAddress: string | undefined;
  /** Where HTTP is served, such as `http://127.0.0.1:7071`; undefined when it is not. */
  readonly httpUrl: string | undefined;
  /** Path of the socket of AdminService. */
  readonly adminSocket: string;
  /** Ends sessions and calls in good order; resolves when nothing is left. */
  stop(): Promise<void>;
  /** Resolves after `stop`; rejects when the orchestrator could not go on, had to end, and has to be started again. */
  readonly done: Promise<void>;
}

/** Starts the orchestrator. Rejects with StartupError or StoreError, whose message says what to do. */
export async function startOrchestrator(config: OrchestratorConfig): Promise<Orchestrator> {
  refuseOpenAddress(config, config.listen);
  if (config.http !== undefined) refuseOpenAddress(config, config.http);
  const folder = prepareDataFolder(config.dataFolder);
  if (folder.kind === 'refused') throw new StartupError(folder.reason, folder.message);
  const lock = lockFolder(folder.path);
  if (lock.kind === 'refused') throw new StartupError(lock.reason, lock.message);
  try {
    return await withStore({ ...config, dataFolder: folder.path }, () => lock.release());
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function withStore(config: OrchestratorConfig, unlock: () => void): Promise<Orchestrator> {
  const { dataFolder, logger } = config;
  const opened = openSqliteStore(dataFolder, { newClusterId: randomUUID });
  const metrics = new Metrics();
  const store = metrics.measure(config.failPoint ? withFailPoint(opened, config.failPoint) : opened);
  const servers: Listening[] = [];
  let end: (error?: Error) => void = () => {};
  const done = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve());
  });
  let started: Started | undefined;
  let stopping: Promise<void> | undefined;
  const stop = (failure?: Error) => {
    stopping ??= shutDown(failure);
    return stopping;
  };
  const shutDown = async (failure?: Error) => {
    logger.info('orchestrator stopping');
    for (const server of servers) await server.stop();
    started?.stopLoop();
    await started?.closeDataPlane();
    started?.inside.audit.stop();
    store.close();
    unlock();
    logger.info('orchestrator stopped');
    end(failure);
  };
  try {
    started = await startLoop(config, { store, metrics }, (error) => {
      // Nothing more may be decided on a state that may not be the stored one (I11).
      started?.stopLoop();
      void stop(error);
    });
    const { inside } = started;
    const bodies = orchestratorBodies(inside);
    servers.push(await openPublicServer(inside, bodies, config.listen));
    const { address } = servers[0]!;
    const enrollAddress = await openEnrollment(config, inside, servers);
    const http = await openHttpPort(config, inside, bodies);
    if (http) servers.push(http);
    const httpUrl = http?.url;
    servers.push(await openAdminServer(inside, dataFolder, { listenAddress: address, httpUrl: httpUrl ?? '' }));
    const { epoch } = inside.loop.world.cluster;
    logger.info(
      { address, dataFolder, epoch, ...(enrollAddress && { enrollAddress }), ...(httpUrl && { httpUrl }) },
      'orchestrator ready',
    );
    return { address, enrollAddress, httpUrl, adminSocket: adminSocketOf(dataFolder), stop: () => stop(), done };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Where it listens, when there is a CA to enrol with. */
async function openEnrollment(
  { enrollListen, listen }: OrchestratorConfig,
  inside: Inside,
  servers: Listening[],
): Promise<string | undefined> {
  const { security } = inside;
  if (!security) return undefined;
  const enrollment = await openEnrollmentServer(inside, security, enrollListen ?? enrollAddressBeside(listen));
  servers.push(enrollment);
  return enrollment.address;
}

async function openHttpPort(
  { http, isHttpOptional = false, logger }: OrchestratorConfig,
  inside: Inside,
  bodies: OrchestratorBodies,
): Promise<HttpListening | undefined> {
  if (http === undefined) return undefined;
  return openHttp(inside, bodies, http).catch((error: unknown) => {
    if (!isHttpOptional || !(error instanceof StartupError)) throw error;
    logger.warn({ listen: http, why: error.message }, 'no dashboard and no HTTP API, name another address with --http');
    return undefined;
  });
}

interface Started {
  readonly inside: Inside;
  stopLoop(): void;
  closeDataPlane(): Promise<void>;
}

async function startLoop(
  config: OrchestratorConfig,
  { store, metrics }: { store: Store; metrics: Metrics },
  fail: (error: Error) => void,
): Promise<Started> {
  const { logger, timings, edges: flags = {}, tokenEndpoints, failPoint } = config;
  const stored = beginEpoch(store, logger);
  const { cluster } = stored;
  const library = new ModelLibrary(config.models, config.operatorModels);
  const post = (event: ClusterEvent) => opened.loop.post(event);
  const audit = new AuditLog(store, systemClock, logger);
  const isRevoked = (serial: string) => opened.loop.world.certificates.get(serial)?.revoked ?? false;
  const security = await openSecurity(config, stored, new Gatekeeper(isRevoked, systemClock, refusalsTo(audit)));
  const keys = new ApiKeys(() => opened.loop.world.keys, systemClock);
  const credentials = security && (await nodeCredentials(security));
  const { endpoints, close: closeDataPlane } = tokenEndpoints
    ? { endpoints: tokenEndpoints(post), close: async () => {} }
    : await openDataPlane({ cluster, flags, credentials, library, post, followAnswer: metrics.answers.follow, logger });
  const opened = openLoop({
    store,
    stored,
    timings,
    clock: systemClock,
    endpoints,
    fail,
    failPoint,
    logger,
    witness: audit,
    observe: metrics.observe,
    meter: metrics.loop,
  });
  const { loop, sessions, hub } = opened;
  metrics.open(loop, hub);
  const stopLoop = () => opened.stop();
  const inside = { loop, store, sessions, hub, library, endpoints, security, keys, audit, metrics, logger };
  return { inside, stopLoop, closeDataPlane };
}

/** Undefined where nobody has run `stageplane init`. A folder that is damaged is refused, never taken for one without. */
async function openSecurity(
  { dataFolder, certificateLifetime = limits.certificateMillis }: OrchestratorConfig,
  { certificates, tokens }: StoredWorld,
  gatekeeper: Gatekeeper,
): Promise<Security | undefined> {
  const read = await readAuthorityFolder(dataFolder);
  if (read.kind === 'missing' && certificates.length + tokens.length > 0) {
    const message = `the database of ${dataFolder} has certificates or tokens, and ${authorityFolder(dataFolder)} is not there: put a backup of that folder in its place, or run \`stageplane init\`, after which all join anew`;
    throw new StartupError('CERTIFICATES_UNUSABLE', message);
  }
  if (read.kind === 'missing') return undefined;
  if (read.kind === 'refused') throw new StartupError('CERTIFICATES_UNUSABLE', read.message);
  const marked = markSecure(dataFolder);
  if (marked.kind === 'refused') throw new StartupError(marked.reason, marked.message);
  const end = read.own.authority.certificate.notAfter;
  if (end.getTime() <= systemClock.wall()) {
    const message = `the CA of ${dataFolder} has expired on ${end.toISOString()}: make a new one with \`stageplane init --force\`, after which all join anew`;
    throw new StartupError('CA_EXPIRED', message);
  }
  return { ...read.own, caDigest: certificateDigest(read.own.ca), lifetime: certificateLifetime, gatekeeper };
}

/** As which the orchestrator takes part in edges. Its key is in this process and nowhere else. */
async function nodeCredentials({ authority, ca }: Security): Promise<Credentials> {
  const subject = { serial: serialNumber(randomBytes(16)), now: Date.now() };
  return { ca, ...(await issueOrchestratorNode(authority, subject)) };
}

function refuseOpenAddress(
  { insecure, trustNetwork = false, dataFolder, logger }: OrchestratorConfig,
  listen: string,
): void {
  if (isInitialised(dataFolder)) {
    if (!insecure) return;
    const message = `the data folder ${dataFolder} was initialised, and everyone shows a certificate there: leave out --insecure`;
    throw new StartupError('ALREADY_SECURE', message);
  }
  const problem = openAddressProblem(listen);
  if (problem === undefined) return;
  if (!insecure || !trustNetwork) throw new StartupError('INSECURE_ADDRESS', problem);
  logger.warn(
    { listen },
    'NOBODY IS AUTHENTICATED AND NOTHING IS ENCRYPTED: whoever reaches this address may do everything',
  );
}
