import { X509Certificate } from 'node:crypto';
import {
  CertificateServiceClient,
  CertificateServiceService as service,
} from '../../gen/stageplane/v1/enrollment_service.js';
import { limits } from '../core/limits.js';
import { dial, unaryCall } from '../grpc/client.js';
import { clientOptions } from '../grpc/client-options.js';
import { orchestratorCredentials } from '../grpc/tls-credentials.js';
import { requestCertificate } from './certificate-request.js';
import type { Credentials } from './credential-folder.js';
import { makeKeyPair } from './key-pair.js';

/** Certificate and key for those that are shown, with the same identity. Rejects with RpcError. */
export async function renew(
  address: string,
  { ca, ...own }: Credentials,
  deadlineMillis: number = limits.defaultDeadlineMillis,
): Promise<Credentials> {
  const key = await makeKeyPair();
  const csr = Buffer.from(await requestCertificate(key));
  const client = dial(address, CertificateServiceClient, clientOptions, orchestratorCredentials(ca, own));
  try {
    const { certificate } = await unaryCall(client, service.renewCertificate, { csr }, { deadlineMillis });
    return { ca, certificate, privateKey: key.privateKey };
  } finally {
    client.close();
  }
}

/** When half of a certificate's life is over, in milliseconds since 1970. */
export function renewalTime(certificate: string): number {
  const { validFrom, validTo } = new X509Certificate(certificate);
  return (Date.parse(validFrom) + limits.certificateSkewMillis + Date.parse(validTo)) / 2;
}
