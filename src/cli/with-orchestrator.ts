import type { Client } from '@grpc/grpc-js';
import { OrchestratorServiceClient } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RpcError } from '../grpc/rpc-error.js';
import { type FoundCredentials, findCredentials } from '../pki/find-credentials.js';
import { renewInPassing } from '../pki/renew-in-passing.js';
import { certificateFailure } from './certificate-failure.js';
import { defaultDataFolder } from './config/default-folder.js';
import type { ExitCode } from './exit-code.js';
import { openClient } from './open-client.js';
import type { Output } from './output.js';
import { rpcFailure } from './rpc-failure.js';

/** Of the settings of every client command. */
export interface Whom {
  readonly orchestrator: string;
  /** Folder of a certificate, if one was named. */
  readonly credentials?: string | undefined;
}

/** Runs a command against an orchestrator; a call that fails ends it with a sentence. */
export function withOrchestrator(
  output: Output,
  whom: Whom,
  command: (client: OrchestratorServiceClient) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withService(OrchestratorServiceClient, output, whom, command);
}

/** The same for another of its services. */
export async function withService<C extends Client>(
  service: Parameters<typeof openClient<C>>[1],
  output: Output,
  { orchestrator: address, credentials: folder }: Whom,
  command: (client: C) => Promise<ExitCode>,
): Promise<ExitCode> {
  const dataFolder = process.env.STAGEPLANE_DATA || defaultDataFolder('orchestrator');
  let client: C | undefined;
  let found: FoundCredentials | undefined;
  try {
    found = findCredentials(address, { dataFolder, folder });
    client = openClient(address, service, found);
    const code = await command(client);
    await renewInPassing(address, found);
    return code;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return output.fail((await certificateFailure(error, address, found !== undefined)) ?? rpcFailure(error, address));
  } finally {
    client?.close();
  }
}
