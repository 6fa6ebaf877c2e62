import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AdminServiceClient, AdminServiceService as service } from '../../../gen/stageplane/v1/admin_service.js';
import { Daemon } from '../../demo/daemon.js';
import { unaryCall } from '../../grpc/client.js';
import { httpAddressBeside } from '../../grpc/default-ports.js';
import { isLoopback } from '../../grpc/listen-address.js';
import { adminSocketOf } from '../../orchestrator/admin-socket.js';
import type { Invocation } from '../command.js';
import type { UpValues } from '../commands/up.js';
import { defaultDataFolder } from '../config/default-folder.js';
import { openClient } from '../open-client.js';
import type { Turn } from './turn.js';
import { waitForFolder } from './wait-for-folder.js';

/** Where a model is to be served. */
export interface Pool {
  readonly address: string;
  /** Undefined when HTTP is not served there, as far as this machine knows. */
  readonly httpUrl: string | undefined;
  /** Log of the agent that was started for it; undefined when nothing was. */
  readonly agentLog?: string | undefined;
}

/** What comes to be while a pool is opened. */
interface Opening {
  /** Gets what is started, at once, so that it can be stopped however this ends. */
  readonly daemons: Daemon[];
  /** Is waited for before anything of another `up` is looked at. */
  readonly turn: Turn;
  readonly signal: AbortSignal;
}

/** The orchestrator that was named, or the one of this machine, or a new one with an agent. Rejects with a sentence. */
export async function openPool(invocation: Invocation<UpValues>, opening: Opening): Promise<Pool> {
  const { values } = invocation;
  const { turn, signal } = opening;
  if (values.orchestrator !== undefined) return named(values.orchestrator);
  const running = await runningIn(process.env.STAGEPLANE_DATA || defaultDataFolder('orchestrator'), signal);
  if (running) return running;
  await turn.wait(signal);
  return (await runningIn(orchestratorFolder(values), signal)) ?? start(invocation, opening);
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

async function start({ values, output }: Invocation<UpValues>, { daemons, signal }: Opening): Promise<Pool> {
  const { data, listen, http = httpAddressBeside(listen), file } = values;
  const models = ['--models', dirname(resolve(file)), '--json'];
  const begin = async (name: string, folder: string, args: readonly string[]): Promise<Daemon> => {
    // That of an `up` that was killed takes a while to end.
    (await waitForFolder(folder, output, signal)).release();
    const words = [name, ...args, '--data', folder, ...models];
    const daemon = new Daemon(name, words, join(data, `${name}.log`));
    daemons.push(daemon);
    return daemon;
  };
  const orchestrator = await begin('orchestrator', orchestratorFolder(values), ['--listen', listen, '--http', http]);
  const { address = '', httpUrl } = await orchestrator.firstAnswer(signal);
  await begin('agent', join(data, 'agent'), ['--orchestrator', address]);
  return { address, httpUrl, agentLog: join(data, 'agent.log') };
}

function orchestratorFolder({ data }: UpValues): string {
  return join(data, 'orchestrator');
}
