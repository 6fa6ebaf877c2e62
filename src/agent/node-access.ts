import { join as joinPath } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import { limits } from '../core/limits.js';
import { enrollAddressBeside } from '../grpc/default-ports.js';
import { RpcError } from '../grpc/rpc-error.js';
import { type Credentials, readCredentials, writeCredentials } from '../pki/credential-folder.js';
import { type Joined, join } from '../pki/join.js';
import { type JoinToken, parseToken, secretDigest } from '../pki/join-token.js';
import { forgetJoiningKey, joiningKey } from '../pki/joining-key.js';
import { identityOf, type PeerIdentity } from '../pki/peer-identity.js';
import { isMarkedSecure, markSecure } from '../pki/security-mark.js';
import { writeFileAtomically } from '../process/write-file-atomically.js';
import type { AgentConfig } from './agent-config.js';
import { nodeName } from './node-name.js';
import { readTokenMark, TOKEN_MARK } from './token-mark.js';

/** Who the agent is to the orchestrator. */
export interface NodeAccess {
  /** `pki` in its data folder. */
  readonly folder: string;
  /** The newest: put in place by `CertificateRenewal`, and shown from the next connection on. */
  credentials: Credentials;
  readonly identity: PeerIdentity;
}

export type NodeAccessOpened =
  | { readonly kind: 'open'; readonly access: NodeAccess }
  /** It has no certificate and no token: plain text. */
  | { readonly kind: 'plain' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'refused'; readonly message: string };

/** The certificate that the agent keeps, or one for its token. A token is redeemed once, and may stay on the command line. */
export async function openNodeAccess(
  config: AgentConfig,
  instanceId: string,
  stopped: AbortSignal,
): Promise<NodeAccessOpened> {
  const folder = joinPath(config.dataFolder, 'pki');
  const token = config.join === undefined ? undefined : parseToken(config.join);
  if (config.join !== undefined && !token) {
    return refuse('the token of --join is none, or was not copied as a whole: it begins with sp1 and has three parts');
  }
  if (token && readTokenMark(folder) !== secretDigest(token.secret)) {
    return enrol({ config, instanceId, folder, token }, stopped);
  }
  const kept = readCredentials(folder, 'agent');
  if (kept.kind === 'missing') return isMarkedSecure(config.dataFolder) ? refuse(lost(folder)) : { kind: 'plain' };
  if (kept.kind === 'refused') return kept;
  const { credentials, identity } = kept;
  if (identity.notAfter <= Date.now()) {
    return refuse(
      `the certificate of node "${identity.name}" has expired: join anew with \`stageplane agent --join TOKEN\``,
    );
  }
  return opened(config, { folder, credentials, identity });
}

interface Enrolment {
  readonly config: AgentConfig;
  readonly instanceId: string;
  readonly folder: string;
  readonly token: JoinToken;
}

async function enrol(
  { config, instanceId, folder, token }: Enrolment,
  stopped: AbortSignal,
): Promise<NodeAccessOpened> {
  const address = config.enroll ?? enrollAddressBeside(config.orchestrator[0] ?? '');
  const request = {
    address,
    token,
    name: config.name ?? '',
    defaultName: nodeName(),
    instanceId,
    key: () => joiningKey(folder, token),
  };
  const joined = await untilAnswered(() => join(request), config.logger, stopped);
  if (!joined) return { kind: 'stopped' };
  if (joined instanceof RpcError) return refuse(joined.message);
  const { credentials } = joined;
  const identity = identityOf(credentials.certificate);
  if (identity?.role !== 'agent') {
    return refuse('this token makes no node: create one with `stageplane token create --role agent`');
  }
  const problem = writeCredentials(folder, 'agent', credentials) ?? keepMark(folder, token);
  if (problem !== undefined) return refuse(problem);
  forgetJoiningKey(folder);
  config.logger.info({ nodeId: identity.nodeId, nodeName: identity.name, serial: identity.serial }, 'joined by token');
  return opened(config, { folder, credentials, identity });
}

/** The orchestrator may start after its agents. */
async function untilAnswered(
  ask: () => Promise<Joined>,
  logger: Logger,
  stopped: AbortSignal,
): Promise<Joined | RpcError | undefined> {
  while (!stopped.aborted) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (error.code !== status.UNAVAILABLE && error.code !== status.DEADLINE_EXCEEDED) return error;
      logger.warn({ why: error.message }, 'cannot join yet; trying again');
    }
    await sleep(limits.reconnectMillis, undefined, { signal: stopped }).catch(() => {});
  }
  return undefined;
}

function keepMark(folder: string, token: JoinToken): string | undefined {
  const written = writeFileAtomically(joinPath(folder, TOKEN_MARK), `${secretDigest(token.secret)}\n`);
  return written.kind === 'refused' ? written.message : undefined;
}

/** Whoever removes the certificates later must not make it go on in plain text, with whoever answers. */
function opened({ dataFolder }: AgentConfig, access: NodeAccess): NodeAccessOpened {
  const marked = markSecure(dataFolder);
  return marked.kind === 'refused' ? refuse(marked.message) : { kind: 'open', access };
}

function lost(folder: string): string {
  return `this agent has joined by certificate, and ${folder} has none: put a backup of that folder in its place, or join anew with \`stageplane agent --join TOKEN\``;
}

function refuse(message: string): NodeAccessOpened {
  return { kind: 'refused', message };
}
