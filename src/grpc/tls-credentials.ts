import { checkServerIdentity, type TlsOptions } from 'node:tls';

import { type ChannelCredentials, type ClientOptions, credentials } from '@grpc/grpc-js';
import { hostOfServerName, ipServerName } from './ip-server-name.js';
import { parseListenAddress } from './listen-address.js';

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
  const made = credentials.createSsl(
    Buffer.from(ca),
    own ? Buffer.from(own.privateKey) : null,
    own ? Buffer.from(own.certificate) : null,
    {
      // Nodes have certificates of the same CA, and could serve with them: the name must fit, and the role.
      checkServerIdentity: (name, certificate) => {
        const host = hostOfServerName(name);
        const problem = checkServerIdentity(host, certificate);
        if (problem || String(certificate.subject.O) === 'orchestrator') return problem;
        return new Error(`${host} shows a certificate that is not that of an orchestrator`);
      },
    },
  );
  readNames.add(made);
  return made;
}

/** Those that know what a name of `ipServerName` stands for. */
const readNames = new WeakSet<ChannelCredentials>();

/** What a channel to `address` needs beside its credentials. */
export function serverNameOptions(address: string, channelCredentials: ChannelCredentials): ClientOptions {
  const name = ipServerName(parseListenAddress(address)?.host ?? '');
  const isNeeded = name !== undefined && readNames.has(channelCredentials);
  return isNeeded ? { 'grpc.ssl_target_name_override': name } : {};
}
