import type { TlsOptions } from 'node:tls';
import type { Server, ServiceDefinition } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import { AdminServiceService } from '../../gen/stageplane/v1/admin_service.js';
import { CertificateServiceService, EnrollmentServiceService } from '../../gen/stageplane/v1/enrollment_service.js';
import { NodeAgentServiceService } from '../../gen/stageplane/v1/node_agent_service.js';
import { OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import { limits } from '../core/limits.js';
import { addService, type ServiceBodies } from '../grpc/add-service.js';
import type { BindResult, Bound } from '../grpc/bind-result.js';
import { bindTcp } from '../grpc/bind-tcp.js';
import { bindUnix } from '../grpc/bind-unix.js';
import { enrollBounds, localBounds, publicBounds } from '../grpc/connection-bounds.js';
import { gracefulStop } from '../grpc/graceful-stop.js';
import { Health } from '../grpc/health.js';
import { newServer } from '../grpc/new-server.js';
import { OpenStreams } from '../grpc/open-streams.js';
import { addReflection } from '../grpc/reflection.js';
import { serverTls } from '../grpc/tls-credentials.js';
import type { HandlerSurroundings } from '../grpc/wrap-handler.js';
import type { Store } from '../store/store.js';
import { version } from '../version.js';
import { adminService, type ServerFacts } from './admin-service.js';
import { adminSocketOf } from './admin-socket.js';
import { agentService } from './agent-service.js';
import type { ApiKeys } from './api-keys.js';
import { auditCalls } from './audit/audit-calls.js';
import type { AuditLog } from './audit/audit-log.js';
import { audited } from './audit/audited.js';
import {
  type AuditedMethods,
  auditedAdminMethods,
  auditedCertificateMethods,
  auditedEnrollmentMethods,
  auditedOrchestratorMethods,
} from './audit/audited-methods.js';
import { Backups } from './backups.js';
import { drainCall } from './drain-call.js';
import { certificateService, enrollmentService } from './enrollment-service.js';
import type { Loop } from './loop.js';
import type { Metrics } from './metrics/metrics.js';
import type { ModelLibrary } from './model-library.js';
import { nodeCalls } from './node-calls.js';
import { planCalls } from './plan-calls.js';
import { runCalls } from './run-calls.js';
import type { Security } from './security.js';
import type { Sessions } from './sessions.js';
import { StartupError } from './startup-error.js';
import { generateCalls } from './text/generate-call.js';
import type { TokenEndpoints } from './text/token-endpoints.js';
import { watchCalls } from './watch-calls.js';
import { watchEventsCall } from './watch-events-call.js';
import type { WatchHub } from './watch-hub.js';

/** What the services stand on. */
export interface Inside {
  readonly loop: Loop;
  readonly store: Store;
  readonly sessions: Sessions;
  readonly hub: WatchHub;
  readonly library: ModelLibrary;
  readonly endpoints: TokenEndpoints;
  /** Absent where nobody has to show a certificate. */
  readonly security: Security | undefined;
  readonly keys: ApiKeys;
  readonly audit: AuditLog;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

export type OrchestratorBodies = ServiceBodies<typeof OrchestratorServiceService>;

export interface Listening {
  /** `host:port` with the real port. */
  readonly address: string;
  stop(): Promise<void>;
}

const publicServices = ['stageplane.v1.OrchestratorService', 'stageplane.v1.NodeAgentService'];

/** What launchers may call, by whatever door; every call is recorded. */
export function orchestratorBodies(inside: Inside): OrchestratorBodies {
  const { loop, store, sessions, hub, library, endpoints, audit, metrics } = inside;
  const calls = {
    ...planCalls(loop, library, metrics.dryRuns.onRejected),
    ...runCalls(loop, sessions, endpoints),
    ...generateCalls({ loop, store, hub, endpoints }),
    ...watchCalls(loop, store, hub),
    ...watchEventsCall(loop, store, hub),
    ...nodeCalls(loop),
    ...drainCall(loop, hub),
  };
  return audited(OrchestratorServiceService, calls, auditedOrchestratorMethods, audit);
}

/** Opens the TCP port of launchers and agents. Rejects with StartupError. */
export async function openPublicServer(inside: Inside, bodies: OrchestratorBodies, listen: string): Promise<Listening> {
  const { loop, sessions, security, audit, metrics, logger } = inside;
  const streams = new OpenStreams();
  const interceptors = security ? [security.gatekeeper.interceptor] : [];
  const watch = { onCallOver: metrics.calls.grpcCall };
  const { server, connections } = newServer(publicBounds, logger, { interceptors }, watch);
  const health = new Health(publicServices);
  const add = addAudited(server, audit, { logger, streams });
  addService(server, OrchestratorServiceService, bodies, { logger, streams });
  add(NodeAgentServiceService, agentService(loop, sessions), {});
  if (security) add(CertificateServiceService, certificateService(loop, security), auditedCertificateMethods);
  health.addTo(server, streams);
  const certificates = security ? ['stageplane.v1.CertificateService'] : [];
  addReflection(server, streams, [...publicServices, ...certificates, 'grpc.health.v1.Health']);

  const tls = security && tlsOf(security, true);
  const bound = boundOrThrow(await bindTcp(server, listen, { connections, tls }));
  health.setServing();
  const sendGoAway = () => sessions.sendGoAway(limits.goAwayDelayMillis, 'the orchestrator is stopping');
  return {
    address: bound.address,
    stop: async () => {
      await gracefulStop({ listeners: [bound], streams, health, sendGoAway });
    },
  };
}

/** Opens the port of those who have no certificate yet. Rejects with StartupError. */
export async function openEnrollmentServer(inside: Inside, security: Security, listen: string): Promise<Listening> {
  const { loop, audit, metrics, logger } = inside;
  const streams = new OpenStreams();
  const { server, connections } = newServer(enrollBounds, logger, {}, { onCallOver: metrics.calls.grpcCall });
  const add = addAudited(server, audit, { logger, streams });
  add(EnrollmentServiceService, enrollmentService(loop, security), auditedEnrollmentMethods);
  const tls = tlsOf(security, false);
  const bound = boundOrThrow(await bindTcp(server, listen, { connections, tls }));
  return {
    address: bound.address,
    stop: async () => {
      await gracefulStop({ listeners: [bound], streams });
    },
  };
}

export function tlsOf({ ca, server }: Security, askClients: boolean): TlsOptions {
  return serverTls({ ca, ...server }, askClients);
}

/** Opens AdminService on a socket in the data folder that its owner alone can use. Rejects with StartupError. */
export async function openAdminServer(
  inside: Inside,
  dataFolder: string,
  where: Pick<ServerFacts, 'listenAddress' | 'httpUrl'>,
): Promise<Listening> {
  const { loop, store, security, keys, audit, metrics, logger } = inside;
  const backups = new Backups(store, dataFolder);
  const streams = new OpenStreams();
  const { server, connections } = newServer(localBounds, logger, {}, { onCallOver: metrics.calls.grpcCall });
  const facts = { version, ...where, dataFolder, startedAt: new Date() };
  const calls = { ...adminService(loop, facts, { backups, security, keys, logger }), ...auditCalls(store, audit) };
  addAudited(server, audit, { logger, streams })(AdminServiceService, calls, auditedAdminMethods);
  addReflection(server, streams, ['stageplane.v1.AdminService']);
  const bound = boundOrThrow(await bindUnix(server, adminSocketOf(dataFolder), 0o600, { connections }));
  return {
    address: bound.address,
    stop: async () => {
      await backups.stop();
      await gracefulStop({ listeners: [bound], streams });
    },
  };
}

function addAudited(server: Server, audit: AuditLog, surroundings: HandlerSurroundings) {
  return <Service extends ServiceDefinition>(
    service: Service,
    bodies: ServiceBodies<Service>,
    methods: AuditedMethods<Service>,
  ) => addService(server, service, audited(service, bodies, methods, audit), surroundings);
}

export function boundOrThrow(bound: BindResult): Bound {
  if (bound.kind === 'refused') throw new StartupError(bound.reason, bound.message);
  return bound;
}
