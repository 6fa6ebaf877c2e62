import { status } from '@grpc/grpc-js';
import { OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import type { Role } from '../core/role.js';
import { gracefulStop } from '../grpc/graceful-stop.js';
import { isLoopback } from '../grpc/listen-address.js';
import { type Admit, type LocalCaller, localCalls } from '../grpc/local-calls.js';
import { OpenStreams } from '../grpc/open-streams.js';
import { RpcError } from '../grpc/rpc-error.js';
import { api } from '../http/api.js';
import { dashboard } from '../http/dashboard.js';
import type { HttpRefusal } from '../http/http-refusal.js';
import { metricsDoor } from '../http/metrics-door.js';
import { openHttpServer } from '../http/open-http-server.js';
import { openAi } from '../http/openai/openai.js';
import { session } from '../http/session.js';
import { accessTable } from './access-table.js';
import { identityOfCaller } from './audit/identity-of-caller.js';
import { refusalsTo } from './audit/refusals-to.js';
import { boundOrThrow, type Inside, type Listening, type OrchestratorBodies, tlsOf } from './servers.js';

export interface HttpListening extends Listening {
  /** Such as `http://127.0.0.1:7071`. */
  readonly url: string;
}

/**
 * Opens the HTTP port: plain on this machine, which has the key of anything that could be encrypted, and over TLS beyond it.
 * Rejects with StartupError.
 */
export async function openHttp(inside: Inside, bodies: OrchestratorBodies, listen: string): Promise<HttpListening> {
  const { security, keys, audit, metrics, logger } = inside;
  const streams = new OpenStreams();
  const admit = admitTo(refusalsTo(audit));
  const calls = localCalls(OrchestratorServiceService, bodies, admit, { logger, streams });
  // They say nothing that a list of the nodes and runs does not.
  const readable = { admit: (caller: LocalCaller) => admit(OrchestratorServiceService.listNodes.path, caller) };
  const tls = security && !isLoopback(listen) ? tlsOf(security, false) : undefined;
  const admission = {
    keys,
    trustsThisMachine: security === undefined,
    onRefused: (peer: string, { statusCode, reason }: HttpRefusal) => {
      const code = statusCode === 401 ? 'UNAUTHENTICATED' : 'PERMISSION_DENIED';
      const by = identityOfCaller({ certificate: undefined, peer });
      audit.end(audit.begin(by, 'HTTP', { target: '' }), { code, reason });
    },
  };
  const doors = [
    api(calls, logger),
    openAi(calls, logger),
    metricsDoor({ ...readable, render: () => metrics.render() }),
    session({ methodsOf, isSecure: tls !== undefined }),
    dashboard(),
  ];
  const bound = boundOrThrow(
    await openHttpServer({ listen, admission, tls, doors, onAnswered: metrics.calls.httpRequest, logger }),
  );
  return {
    address: bound.address,
    url: `${tls ? 'https' : 'http'}://${bound.address}`,
    stop: async () => {
      await gracefulStop({ listeners: [bound], streams });
    },
  };
}

/** Methods that a role may call; somebody of this machine, who shows no key, may call each. */
function methodsOf(role: Role | undefined): string[] {
  return Object.values(OrchestratorServiceService)
    .filter(({ path }) => role === undefined || accessTable[path]?.includes(role))
    .map(({ path }) => path.split('/').at(-1)!);
}

/** By the same table as certificates. Who shows no key was let in as somebody of this machine, as over gRPC. */
function admitTo(onRefused: ReturnType<typeof refusalsTo>): Admit {
  return (path, { key, peer }) => {
    const roles = accessTable[path] ?? [];
    if (!key || roles.includes(key.role)) return;
    const message = `the key "${key.name}" has the role ${key.role}, and this needs ${roles.join(' or ')}: use another key`;
    const error = new RpcError(status.PERMISSION_DENIED, 'ROLE_MISSING', message);
    onRefused(path, { certificate: undefined, key, peer }, error);
    throw error;
  };
}
