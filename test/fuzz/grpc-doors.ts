import http2, { type ClientHttp2Session } from 'node:http2';
import { connect } from 'node:net';
import type { RunningOrchestrator } from '../support/running-orchestrator.js';
import type { SecuredOrchestrator } from '../support/secured-orchestrator.js';
import type { FuzzedMethod } from './grpc-methods.js';

type Door = 'public' | 'admin' | 'enrol' | 'secured';

/** One connection through each door for many calls, and another when it has broken. */
export class Doors {
  readonly #sessions = new Map<Door, ClientHttp2Session>();

  constructor(
    private readonly open: RunningOrchestrator,
    private readonly secured: SecuredOrchestrator,
  ) {}

  to(method: FuzzedMethod): ClientHttp2Session {
    const door = doorOf(method);
    const known = this.#sessions.get(door);
    if (known && !known.closed && !known.destroyed) return known;
    const session = this.#connect(door).on('error', () => {});
    this.#sessions.set(door, session);
    return session;
  }

  close(): void {
    for (const session of this.#sessions.values()) session.destroy();
  }

  #connect(door: Door): ClientHttp2Session {
    const { ca, certificate: cert, privateKey: key } = this.secured.operator.credentials;
    switch (door) {
      case 'public':
        return http2.connect(`http://${this.open.address}`);
      case 'admin':
        return http2.connect('http://localhost', { createConnection: () => connect(this.open.adminSocket) });
      case 'enrol':
        return http2.connect(`https://${this.secured.enrollAddress}`, { ca });
      case 'secured':
        return http2.connect(`https://${this.secured.address}`, { ca, cert, key });
    }
  }
}

function doorOf({ service }: FuzzedMethod): Door {
  if (service.endsWith('AdminService')) return 'admin';
  if (service.endsWith('EnrollmentService')) return 'enrol';
  return service.endsWith('CertificateService') ? 'secured' : 'public';
}
