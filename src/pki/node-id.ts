import type { PeerCertificate } from 'node:tls';
import { ORCHESTRATOR_NODE_ID } from '../core/ids.js';
import { readIdentity } from './peer-identity.js';

/** Subject of the certificate with which an orchestrator takes part in edges. No token gives this role. */
export const orchestratorNode = { role: 'orchestrator', common: `node:${ORCHESTRATOR_NODE_ID}` } as const;

/** The node that a certificate speaks for: an agent's, or the orchestrator's own. Undefined for that of anybody else. */
export function readNodeId(
  certificate: Pick<PeerCertificate, 'subject' | 'serialNumber' | 'valid_to'>,
): bigint | undefined {
  const { O: role, CN: common } = certificate.subject as Record<string, unknown>;
  if (role === orchestratorNode.role) return common === orchestratorNode.common ? ORCHESTRATOR_NODE_ID : undefined;
  return readIdentity(certificate)?.nodeId;
}
