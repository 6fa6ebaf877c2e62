import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ChannelCredentials } from '@grpc/grpc-js';
import { orchestratorCredentials } from '../grpc/tls-credentials.js';
import { packageRoot } from '../package-root.js';
import { readCredentials } from '../pki/credential-folder.js';
import { authorityFolder } from '../pki/is-initialised.js';

/** What makes a demo secure: certificates for all, and edges over TCP, where they are mutual TLS. */
export interface SecureSetup {
  /** Flags of the orchestrator and of each agent, about edges; by node id. */
  edgeFlags(nodeId: string): string[];
  /** A token of the orchestrator, which has to run. */
  token(nodeName: string): Promise<string>;
  /** Of the operator of this machine. */
  readonly credentials: ChannelCredentials;
}

/** As an operator does it: `stageplane init`, and one port for the edges of each node. @param data of the orchestrator */
export async function secureSetup(data: string, nodeIds: readonly string[], signal: AbortSignal): Promise<SecureSetup> {
  const stageplane = async (...words: string[]) => {
    const program = join(packageRoot(), 'dist', 'src', 'cli', 'main.js');
    return (await promisify(execFile)(process.execPath, [program, ...words], { signal })).stdout.trim();
  };
  await stageplane('init', '--data', data);
  const operator = readCredentials(authorityFolder(data), 'admin');
  if (operator.kind !== 'read') throw new Error(`${data} has no certificate of its operator`);
  const { ca, ...own } = operator.credentials;
  const ports = await freePorts(nodeIds.length);
  const addresses = new Map(nodeIds.map((nodeId, at) => [nodeId, `127.0.0.1:${ports[at]}`]));
  return {
    edgeFlags: (nodeId) => {
      const others = [...addresses].filter(([other]) => other !== nodeId);
      const known = others.flatMap(([other, address]) => ['--edge-address', `${other}=${address}`]);
      return ['--edge-listen', addresses.get(nodeId) ?? '', ...known];
    },
    token: (nodeName) => stageplane('token', 'create', '--data', data, '--node', nodeName),
    credentials: orchestratorCredentials(ca, own),
  };
}

/** All open at once, so that no two are the same. Whoever takes one before its daemon does fails the demo. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
