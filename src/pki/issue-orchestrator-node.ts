import { limits } from '../core/limits.js';
import { type Authority, issue, pemOf } from './authority.js';
import type { Credential } from './issue-server.js';
import { makeKeyPair } from './key-pair.js';
import { orchestratorNode } from './node-id.js';
import { ExtendedKeyUsage, ExtendedKeyUsageExtension } from './x509.js';

/**
 * With what an orchestrator takes part in edges as node 1: it dials the first stage and is dialled by the last one, so its
 * server's certificate would not do. Made at each start and never written; beside the CA's key a shorter life than the
 * CA's would protect nothing.
 */
export async function issueOrchestratorNode(
  authority: Authority,
  { serial, now }: { readonly serial: string; readonly now: number },
): Promise<Credential> {
  const { keys, privateKey } = await makeKeyPair();
  const certificate = await issue(authority, {
    name: [{ O: [orchestratorNode.role] }, { CN: [orchestratorNode.common] }],
    publicKey: keys.publicKey,
    serial,
    now,
    lifetime: limits.caMillis,
    extensions: [new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth, ExtendedKeyUsage.serverAuth])],
  });
  return { certificate: pemOf(certificate), privateKey };
}
