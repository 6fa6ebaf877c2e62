import { randomBytes } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import type {
  CertificateServiceService,
  EnrollmentServiceService,
} from '../../gen/stageplane/v1/enrollment_service.js';
import { nodeId, wallMillis } from '../core/ids.js';
import { isJoinRole } from '../core/role.js';
import type { ServiceBodies } from '../grpc/add-service.js';
import { RpcError } from '../grpc/rpc-error.js';
import type { Authority } from '../pki/authority.js';
import { type RequestedKey, readRequest } from '../pki/certificate-request.js';
import { issueClient } from '../pki/issue-client.js';
import { secretDigest } from '../pki/join-token.js';
import { readIdentity } from '../pki/peer-identity.js';
import { serialNumber } from '../pki/serial-number.js';
import { validFor } from '../pki/validity.js';
import { answerError } from './answer-errors.js';
import type { Loop } from './loop.js';
import type { Security } from './security.js';

/** Tokens for certificates. What is signed was committed before (I4). */
export function enrollmentService(
  loop: Loop,
  { authority, ca, lifetime }: Security,
): ServiceBodies<typeof EnrollmentServiceService> {
  return {
    async enroll({ secret, csr, name, instanceId, defaultName }, context) {
      const key = await keyOf(csr);
      const drawn = draw(authority, lifetime);
      const { serial, notAfter } = drawn;
      const answer = await loop.request(
        (call) => ({
          kind: 'enrol-requested',
          call,
          secretDigest: secretDigest(secret),
          keyDigest: key.digest,
          name,
          defaultName,
          instanceId,
          serial,
          notAfter,
        }),
        context,
      );
      if (answer.kind !== 'enrolled') throw answerError(answer);
      const { holder } = answer;
      const certificate = await issueClient(authority, key, { ...holder, ...drawn });
      return { certificate, ca, nodeId: holder.nodeId ?? 0n, role: holder.role, name: holder.name };
    },
  };
}

/** Certificates for those who have one. */
export function certificateService(
  loop: Loop,
  { authority, ca, lifetime }: Security,
): ServiceBodies<typeof CertificateServiceService> {
  return {
    async renewCertificate({ csr }, context) {
      const { certificate: shown } = context;
      const identity = shown && readIdentity(shown);
      if (!identity || !isJoinRole(identity.role)) {
        throw new RpcError(
          status.PERMISSION_DENIED,
          'NO_IDENTITY',
          'this certificate is not renewed: join with a token',
        );
      }
      const key = await keyOf(csr);
      const drawn = draw(authority, lifetime);
      const { serial, notAfter } = drawn;
      const id = identity.nodeId === undefined ? undefined : nodeId(identity.nodeId);
      const holder = { role: identity.role, name: identity.name, nodeId: id };
      const next = { ...holder, serial, notAfter, revoked: false };
      const answer = await loop.request(
        (call) => ({ kind: 'renewal-requested', call, shown: identity.serial, next }),
        context,
      );
      if (answer.kind !== 'renewed') throw answerError(answer);
      return { certificate: await issueClient(authority, key, { ...holder, ...drawn }), ca };
    },
  };
}

async function keyOf(csr: Uint8Array): Promise<RequestedKey> {
  const key = await readRequest(csr);
  if (key) return key;
  const message = 'csr is no certificate request of an ECDSA P-256 key that is signed by it: install matching versions';
  throw new RpcError(status.INVALID_ARGUMENT, 'CSR_INVALID', message);
}

/** @param lifetime milliseconds; less when the CA ends before */
function draw({ certificate: ca }: Authority, lifetime: number) {
  const now = Date.now();
  const notAfter = wallMillis(Math.min(validFor(now, lifetime).notAfter.getTime(), ca.notAfter.getTime()));
  return { serial: serialNumber(randomBytes(16)), now, lifetime, notAfter };
}
