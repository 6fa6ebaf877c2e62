import { status } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import type { AdminServiceService, GetServerInfoResponse } from '../../gen/stageplane/v1/admin_service.js';
import { ignoredInAll } from '../core/machine/ignored-messages.js';
import type { ServiceBodies } from '../grpc/add-service.js';
import { RpcError } from '../grpc/rpc-error.js';
import { accessCalls } from './access-calls.js';
import type { ApiKeys } from './api-keys.js';
import type { Backups } from './backups.js';
import { keyCalls } from './key-calls.js';
import type { Loop } from './loop.js';
import type { Security } from './security.js';

type Bodies = Omit<ServiceBodies<typeof AdminServiceService>, 'listAuditEvents'>;

/** What does not change while the orchestrator lives. */
export type ServerFacts = Pick<
  GetServerInfoResponse,
  'version' | 'listenAddress' | 'httpUrl' | 'dataFolder' | 'startedAt'
>;

export interface AdminParts {
  readonly backups: Backups;
  readonly security: Security | undefined;
  readonly keys: ApiKeys;
  readonly logger: Logger;
}

/** AdminService, for the operator of this machine. */
export function adminService(loop: Loop, facts: ServerFacts, { backups, security, keys, logger }: AdminParts): Bodies {
  const { world } = loop;
  return {
    async getServerInfo() {
      const connected = [...world.contacts.values()].filter((contact) => contact.session !== undefined);
      const active = [...world.runs.values()].filter((run) => run.phase !== 'DONE');
      return {
        ...facts,
        clusterId: world.cluster.clusterId,
        epoch: world.cluster.epoch,
        revision: world.cluster.revision,
        connectedNodes: connected.length,
        activeRuns: active.length,
        ignoredMessages: BigInt(ignoredInAll(world.ignored)),
        now: new Date(),
        backup: backups.progress,
      };
    },

    async setLogLevel({ level }) {
      if (!(level in logger.levels.values)) {
        const known = Object.keys(logger.levels.values).join(', ');
        throw new RpcError(
          status.INVALID_ARGUMENT,
          'UNKNOWN_LOG_LEVEL',
          `"${level}" is no log level: use one of ${known}`,
          {
            fieldViolations: [{ field: 'level', description: `must be one of ${known}` }],
          },
        );
      }
      logger.level = level;
      return {};
    },

    async backup(request, { signal }) {
      const made = await backups.make(request, signal);
      logger.info({ path: request.path, ...made }, 'backup made');
      return made;
    },

    ...accessCalls(loop, security),
    ...keyCalls(loop, keys),
  };
}
