import { checkServerIdentity, type TlsOptions } from 'node:tls';
import { type ChannelCredentials, credentials } from '@grpc/grpc-js';
import { hostOf } from './server-name.js';

/** What one side of a connection shows, and whom it believes. All in PEM. */
export interface TlsParts {
  readonly ca: string;
  readonly certificate: string;
  readonly privateKey: string;
}

/** For a server that asks every client for a certificate of the CA, or none for one. The CA is sent along. */
export function serverTls({ ca, certificate, privateKey }: TlsParts, askClients: boolean): TlsOptions {
  const own = { cert: `${certificate.trimEnd()}\n${ca}`, key: privateKey };
  return askClients ? { ...own, ca, requestCert: true, rejectUnauthorized: true } : own;
}

/**
 * For a client that talks to the orchestrator of a CA and to nobody else.
 *
 * @param own what it shows; nothing when absent
 */
export function orchestratorCredentials(ca: string, own?: Omit<TlsParts, 'ca'>): ChannelCredentials {
  return credentials.createSsl(
    Buffer.from(ca),
    own ? Buffer.from(own.privateKey) : null,
    own ? Buffer.from(own.certificate) : null,
    {
      // Nodes have certificates of the same CA, and could serve with them: the name must fit, and the role.
      checkServerIdentity: (serverName, certificate) => {
        const host = hostOf(serverName);
        const problem = checkServerIdentity(host, certificate);
        if (problem || String(certificate.subject.O) === 'orchestrator') return problem;
        return new Error(`${host} shows a certificate that is not that of an orchestrator`);
      },
    },
  );
}
