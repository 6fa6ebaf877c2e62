import { X509Certificate } from 'node:crypto';
import { connect, type TLSSocket } from 'node:tls';
import { status } from '@grpc/grpc-js';
import {
  EnrollmentServiceClient,
  type EnrollResponse,
  EnrollmentServiceService as service,
} from '../../gen/stageplane/v1/enrollment_service.js';
import { limits } from '../core/limits.js';
import { dial, unaryCall } from '../grpc/client.js';
import { clientOptions } from '../grpc/client-options.js';
import { parseListenAddress } from '../grpc/listen-address.js';
import { RpcError } from '../grpc/rpc-error.js';
import { orchestratorCredentials } from '../grpc/tls-credentials.js';
import { whyUnanswered } from '../grpc/why-unanswered.js';
import { certificateDigest } from './certificate-digest.js';
import { requestCertificate } from './certificate-request.js';
import type { Credentials } from './credential-folder.js';
import type { JoinToken } from './join-token.js';
import { type KeyPair, makeKeyPair } from './key-pair.js';

export interface JoinRequest {
  /** `host:port` of EnrollmentService. */
  readonly address: string;
  readonly token: JoinToken;
  /** Empty for the token's. */
  readonly name: string;
  readonly defaultName: string;
  /** Of an agent's data folder; empty for others. */
  readonly instanceId: string;
  /** Asked for when the server is known; by default a new one, of which nothing is left when the answer is lost. */
  readonly key?: () => Promise<KeyPair>;
}

export interface Joined {
  readonly credentials: Credentials;
  readonly answer: EnrollResponse;
}

/**
 * Becomes somebody: finds the CA that the token names, and says the secret to nobody but a server of that CA. Rejects with
 * RpcError.
 */
export async function join(request: JoinRequest): Promise<Joined> {
  const { address, token, name, defaultName, instanceId, key: keyToUse = makeKeyPair } = request;
  const ca = await findAuthority(address, token.caDigest);
  const key = await keyToUse();
  const csr = Buffer.from(await requestCertificate(key));
  const client = dial(address, EnrollmentServiceClient, clientOptions, orchestratorCredentials(ca));
  try {
    const asked = { secret: token.secret, csr, name, instanceId, defaultName };
    const answer = await unaryCall(client, service.enroll, asked).catch((error: RpcError) => {
      throw unrelated(error, address);
    });
    return { credentials: { ca, certificate: answer.certificate, privateKey: key.privateKey }, answer };
  } finally {
    client.close();
  }
}

/** It has shown the CA that the token names, so what goes wrong before an answer has few reasons. */
function unrelated(error: RpcError, address: string): RpcError {
  if (whyUnanswered(error) === undefined) return error;
  const port = 'the address where the orchestrator redeems tokens (--enroll; by default two ports after its own)';
  const host = 'a host that it knows as its name (`stageplane init --add-name`)';
  const message = `the server at ${address} shows the CA that the token names, and redeems no tokens: name ${port}, and ${host}`;
  return new RpcError(status.UNAVAILABLE, 'NO_ENROLLMENT_HERE', message);
}

/** The CA of the server at an address, in PEM, if it is the one of this digest. Says nothing to that server. */
async function findAuthority(address: string, digest: string): Promise<string> {
  const { raw } = rootOf(await peerOf(address));
  if (certificateDigest(raw) === digest) return inTime(new X509Certificate(raw)).toString();
  const message = `the server at ${address} is not of the CA that the token names: make sure of the address, and of the token; nothing was said to it`;
  throw new RpcError(status.PERMISSION_DENIED, 'OTHER_AUTHORITY', message);
}

function inTime(ca: X509Certificate): X509Certificate {
  const now = Date.now();
  if (Date.parse(ca.validFrom) <= now && now < Date.parse(ca.validTo)) return ca;
  const message = `the CA that the token names is good from ${ca.validFrom} to ${ca.validTo}, and this machine has ${new Date(now).toUTCString()}: set its clock`;
  throw new RpcError(status.FAILED_PRECONDITION, 'CLOCK_OUTSIDE', message);
}

interface Link {
  readonly raw: Buffer;
  readonly issuerCertificate?: Link;
}

function rootOf(leaf: Link): Link {
  let link = leaf;
  // The root is its own issuer; a chain of ours has two.
  for (let depth = 0; depth < limits.chainLinks; depth += 1) {
    const next = link.issuerCertificate;
    if (!next || next.raw.equals(link.raw)) break;
    link = next;
  }
  return link;
}

/** Whom it shows is looked at, not believed: the next connection checks everything against the CA that was found. */
function peerOf(address: string): Promise<Link> {
  const { host = '', port = 0 } = parseListenAddress(address) ?? {};
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ host, port, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
    const fail = (why: string) => {
      socket.destroy();
      // Whoever named the port of tokens with --orchestrator is one port too far.
      const message = `nobody redeems tokens at ${address} (${why}): that is two ports after the one of --orchestrator, unless --enroll names another; check both`;
      reject(new RpcError(status.UNAVAILABLE, 'NO_ENROLLMENT', message));
    };
    socket.setTimeout(limits.defaultDeadlineMillis, () => fail('no answer'));
    socket.once('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
    socket.once('secureConnect', () => {
      const peer = socket.getPeerCertificate(true);
      if (peer.raw) resolve(peer);
      else fail('no certificate');
      socket.destroy();
    });
  });
}
