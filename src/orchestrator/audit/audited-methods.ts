import type { AdminServiceService } from '../../../gen/stageplane/v1/admin_service.js';
import type {
  CertificateServiceService,
  EnrollmentServiceService,
} from '../../../gen/stageplane/v1/enrollment_service.js';
import type { OrchestratorServiceService } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { clipText } from '../../core/clip-text.js';
import { limits } from '../../core/limits.js';
import type { AuditSubject } from '../../store/audit-record.js';

/** Which methods are recorded whatever comes of them, and what of a request says what it is about. */
export type AuditedMethods<Service> = {
  readonly [Name in keyof Service]?: Service[Name] extends { readonly requestSerialize: (request: infer R) => Buffer }
    ? (request: R) => AuditSubject
    : never;
};

const ofRun = ({ runId }: { runId: bigint }): AuditSubject => ({ target: `run ${runId}`, runId: bounded(runId) });
const ofNode = ({ nodeId }: { nodeId: bigint }): AuditSubject => ({
  target: `node ${nodeId}`,
  nodeId: bounded(nodeId),
});
const ofText = (text: string): AuditSubject => ({ target: clipText(text, limits.auditTargetBytes) });

export const auditedOrchestratorMethods: AuditedMethods<typeof OrchestratorServiceService> = {
  createRun: ({ requestId }) => ofText(`request ${JSON.stringify(requestId)}`),
  stopRun: ofRun,
  deleteRun: ofRun,
  generate: ofRun,
  cordonNode: ofNode,
  uncordonNode: ofNode,
  drainNode: ofNode,
  deleteNode: ofNode,
};

export const auditedAdminMethods: AuditedMethods<typeof AdminServiceService> = {
  createJoinToken: ({ role, nodeName }) => ofText(`token for ${role || 'agent'} ${JSON.stringify(nodeName)}`),
  revokeCertificate: ({ serial }) => ofText(`certificate ${serial}`),
  createApiKey: ({ role, name }) => ofText(`key for ${role || 'launcher'} ${JSON.stringify(name)}`),
  revokeApiKey: ({ keyId }) => ofText(`key ${keyId}`),
  backup: ({ path }) => ofText(path),
  setLogLevel: ({ level }) => ofText(`log level ${level}`),
};

export const auditedEnrollmentMethods: AuditedMethods<typeof EnrollmentServiceService> = {
  // Not the secret, of which even a digest of a wrong one may be of use to a thief.
  enroll: ({ name, defaultName }) => ofText(JSON.stringify(name || defaultName)),
};

export const auditedCertificateMethods: AuditedMethods<typeof CertificateServiceService> = {
  renewCertificate: () => ({ target: '' }),
};

/** An id that no store can hold names nothing here. */
function bounded(id: bigint): bigint | undefined {
  return id <= limits.storedInteger ? id : undefined;
}
