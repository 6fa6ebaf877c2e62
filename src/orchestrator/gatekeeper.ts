import type { PeerCertificate } from 'node:tls';
import { ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js';
import type { CallContext } from '../grpc/open-call.js';
import { RpcError } from '../grpc/rpc-error.js';
import { serverStatus } from '../grpc/server-status.js';
import { type PeerIdentity, readIdentity } from '../pki/peer-identity.js';
import { accessTable } from './access-table.js';
import type { Clock } from './clock.js';

interface OpenCall {
  readonly serial: string;
  end(error: RpcError): void;
}

type OnRefused = (path: string, who: Pick<CallContext, 'certificate' | 'peer'>, error: RpcError) => void;

/** Lets calls of a mutual TLS server in by their certificates, and ends those whose certificate is good no longer. */
export class Gatekeeper {
  private readonly open = new Set<OpenCall>();

  constructor(
    private readonly isRevoked: (serial: string) => boolean,
    private readonly clock: Clock,
    private readonly onRefused: OnRefused = () => {},
  ) {}

  /** For the options of the server: every call of every service passes it, before anything of ours hears of the call. */
  readonly interceptor: ServerInterceptor = ({ path }, call) => {
    const certificate = call.getAuthContext().sslPeerCertificate;
    const admitted = this.admit(path, certificate);
    if (admitted instanceof RpcError) {
      this.onRefused(path, { certificate, peer: call.getPeer() }, admitted);
      const refuse = () => call.sendStatus(serverStatus(admitted));
      return new ServerInterceptingCall(call, { start: (next) => next({ onReceiveMetadata: refuse }) });
    }
    const leave = this.enter(admitted, (error) => call.sendStatus(serverStatus(error)));
    // grpc-js says so after every call, however it ended.
    return new ServerInterceptingCall(call, { start: (next) => next({ onCancel: leave }) });
  };

  /** After the revocation is committed: later calls are refused by then, and these end. */
  endCallsOf(serials: readonly string[]): void {
    for (const call of [...this.open]) if (serials.includes(call.serial)) call.end(revoked(call.serial));
  }

  private admit(path: string, certificate: PeerCertificate | undefined): PeerIdentity | RpcError {
    const identity = certificate?.subject && readIdentity(certificate);
    if (!identity) {
      const message = 'the certificate names no role of this product: join with a token of `stageplane token create`';
      return new RpcError(status.UNAUTHENTICATED, 'NO_IDENTITY', message);
    }
    if (this.isRevoked(identity.serial)) return revoked(identity.serial);
    // TLS has looked when the connection was made; this one may be old.
    if (identity.notAfter <= this.clock.wall()) return expired(identity.serial);
    const roles = accessTable[path] ?? [];
    return roles.includes(identity.role) ? identity : wrongRole(identity, path, roles);
  }

  private enter({ serial, notAfter }: PeerIdentity, end: (error: RpcError) => void): () => void {
    const call = { serial, end };
    this.open.add(call);
    let callOff = () => {};
    const wait = () => {
      // The clock's longest wait is shorter than most certificates: what fires too early waits again.
      callOff = this.clock.after(notAfter - this.clock.wall(), () => {
        if (notAfter <= this.clock.wall()) end(expired(serial));
        else wait();
      });
    };
    wait();
    return () => {
      callOff();
      this.open.delete(call);
    };
  }
}

function revoked(serial: string): RpcError {
  const message = `certificate ${serial} was revoked: join anew with a token`;
  return new RpcError(status.PERMISSION_DENIED, 'CERTIFICATE_REVOKED', message);
}

function expired(serial: string): RpcError {
  const message = `certificate ${serial} has expired: join anew with a token, or connect with the renewed one`;
  return new RpcError(status.UNAUTHENTICATED, 'CERTIFICATE_EXPIRED', message);
}

function wrongRole({ role, name }: PeerIdentity, path: string, roles: readonly string[]): RpcError {
  const needed = roles.length === 0 ? 'which nobody may call here' : `which needs the role ${roles.join(' or ')}`;
  const message = `"${name}" has the role ${role} and called ${path}, ${needed}: use another certificate`;
  return new RpcError(status.PERMISSION_DENIED, 'ROLE_MISSING', message, {
    metadata: { role, needed: roles.join(',') },
  });
}
