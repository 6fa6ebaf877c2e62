import { randomBytes } from 'node:crypto';
import type { ChannelCredentials, Client } from '@grpc/grpc-js';
import pino from 'pino';
import { onTestFinished } from 'vitest';
import { AdminServiceService as Admin, AdminServiceClient } from '../../gen/stageplane/v1/admin_service.js';
import { defaultTimings } from '../../src/core/machine/timings.js';
import type { JoinRole } from '../../src/core/role.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { clientOptions } from '../../src/grpc/client-options.js';
import { orchestratorCredentials } from '../../src/grpc/tls-credentials.js';
import { initialise } from '../../src/orchestrator/initialise.js';
import { type OrchestratorConfig, startOrchestrator } from '../../src/orchestrator/orchestrator.js';
import { type Credentials, readCredentials } from '../../src/pki/credential-folder.js';
import { authorityFolder } from '../../src/pki/is-initialised.js';
import { type Joined, join } from '../../src/pki/join.js';
import { type JoinToken, parseToken } from '../../src/pki/join-token.js';
import { readyEndpoints } from './ready-endpoints.mjs';
import { temporaryFolder } from './temporary-folder.js';

export type SecuredOrchestrator = Awaited<ReturnType<typeof runSecured>>;

type SecuredOptions = Partial<
  Pick<OrchestratorConfig, 'certificateLifetime' | 'dataFolder' | 'http' | 'models' | 'tokenEndpoints' | 'logger'>
>;

/** A real orchestrator whose folder was initialised, on free ports, stopped with the test. */
export async function runSecured(options: SecuredOptions = {}) {
  const dataFolder = options.dataFolder ?? temporaryFolder();
  const made = await initialise({ dataFolder, names: [], force: false });
  if (made.kind === 'refused' && made.reason !== 'ALREADY_INITIALISED') throw new Error(made.message);
  const orchestrator = await startOrchestrator({
    listen: '127.0.0.1:0',
    http: options.http,
    dataFolder,
    models: options.models ?? [],
    insecure: false,
    certificateLifetime: options.certificateLifetime,
    timings: defaultTimings,
    tokenEndpoints: options.tokenEndpoints ?? readyEndpoints,
    logger: options.logger ?? pino({ level: process.env.TEST_LOG ?? 'silent' }),
  });
  const admin = dial(`unix:${orchestrator.adminSocket}`, AdminServiceClient);
  const enrollAddress = orchestrator.enrollAddress ?? '';
  let stopped: Promise<void> | undefined;
  const stop = () => {
    admin.close();
    stopped ??= orchestrator.stop();
    return stopped;
  };
  onTestFinished(stop);

  const token = async (role: JoinRole = 'agent', nodeName = '', ttlMillis = 0n): Promise<string> =>
    (await unaryCall(admin, Admin.createJoinToken, { role, nodeName, ttlMillis })).token;
  const redeem = (text: string, name: string, instanceId = name, address = enrollAddress): Promise<Joined> =>
    join({ address, token: parsed(text), name, defaultName: '', instanceId });
  const enrol = async (role: JoinRole, name: string): Promise<Joined> =>
    redeem(await token(role), name, role === 'agent' ? name : '');
  const call = <C extends Client>(type: Parameters<typeof dial<C>>[1], as: Credentials | undefined): C => {
    const client = dial(orchestrator.address, type, clientOptions, as && credentialsOf(as));
    onTestFinished(() => client.close());
    return client;
  };
  const operator = readCredentials(authorityFolder(dataFolder), 'admin');
  if (operator.kind !== 'read') throw new Error('init made no certificate for the operator');
  return { ...orchestrator, enrollAddress, stop, dataFolder, admin, token, redeem, enrol, call, operator };
}

export function parsed(token: string): JoinToken {
  const read = parseToken(token);
  if (!read) throw new Error(`${token} is no token`);
  return read;
}

export function credentialsOf({ ca, ...own }: Credentials): ChannelCredentials {
  return orchestratorCredentials(ca, own);
}

/** A token of the same shape that nobody has made. */
export function forged(token: string): string {
  return `sp1.${parsed(token).caDigest}.${randomBytes(32).toString('base64url')}`;
}
