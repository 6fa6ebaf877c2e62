import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AdminServiceClient, AdminServiceService as service } from '../../../gen/stageplane/v1/admin_service.js';
import { Daemon } from '../../demo/daemon.js';
import { unaryCall } from '../../grpc/client.js';
import { httpAddressBeside } from '../../grpc/default-ports.js';
import { isLoopback } from '../../grpc/listen-address.js';
import { adminSocketOf } from '../../orchestrator/admin-socket.js';
import type { UpValues } from '../commands/up.js';
import { defaultDataFolder } from '../config/default-folder.js';
import { openClient } from '../open-client.js';

/** Where a model is to be served. */
export interface Pool {
  readonly address: string;
  /** Undefined when HTTP is not served there, as far as this machine knows. */
  readonly httpUrl: string | undefined;
  /** Log of the agent that was started for it; undefined when nothing was. */
  readonly agentLog?: string | undefined;
}

/**
 * The orchestrator that was named, or the one of this machine, or a new one with an agent. Rejects with a sentence.
 *
 * @param daemons gets what is started, at once, so that it can be stopped however this ends
 */
export async function openPool(values: UpValues, daemons: Daemon[], signal: AbortSignal): Promise<Pool> {
  if (values.orchestrator !== undefined) return named(values.orchestrator);
  const folders = [process.env.STAGEPLANE_DATA || defaultDataFolder('orchestrator'), orchestratorFolder(values)];
  for (const folder of folders) {
    const running = await runningIn(folder, signal);
    if (running) return running;
  }
  return start(values, daemons, signal);
}

/** Nobody but its own admin socket tells where HTTP is; on this machine it is where it is by default, or else the person knows. */
function named(address: string): Pool {
  return { address, httpUrl: isLoopback(address) ? `http://${httpAddressBeside(address)}` : undefined };
}

async function runningIn(folder: string, signal: AbortSignal): Promise<Pool | undefined> {
  const socket = adminSocketOf(folder);
  if (!existsSync(socket)) return undefined;
  const admin = openClient(`unix:${socket}`, AdminServiceClient);
  try {
    const { listenAddress, httpUrl } = await unaryCall(admin, service.getServerInfo, {}, { signal });
    return { address: listenAddress, httpUrl: httpUrl || undefined };
  } catch (error) {
    signal.throwIfAborted();
    // A socket that an orchestrator left behind which was killed.
    if ((error as { readonly codeName?: string }).codeName === 'UNAVAILABLE') return undefined;
    throw error;
  } finally {
    admin.close();
  }
}

async function start(values: UpValues, daemons: Daemon[], signal: AbortSignal): Promise<Pool> {
  const { data, listen, http = httpAddressBeside(listen), file } = values;
  mkdirSync(data, { recursive: true });
  const models = ['--models', dirname(resolve(file)), '--json'];
  const begin = (name: string, args: readonly string[]): Daemon => {
    signal.throwIfAborted();
    const daemon = new Daemon(name, [...args, ...models], join(data, `${name}.log`));
    daemons.push(daemon);
    return daemon;
  };
  const folder = orchestratorFolder(values);
  const ownArgs = ['orchestrator', '--listen', listen, '--http', http, '--data', folder];
  const { address = '', httpUrl } = await begin('orchestrator', ownArgs).firstAnswer(signal);
  begin('agent', ['agent', '--orchestrator', address, '--data', join(data, 'agent')]);
  return { address, httpUrl, agentLog: join(data, 'agent.log') };
}

function orchestratorFolder({ data }: UpValues): string {
  return join(data, 'orchestrator');
}
