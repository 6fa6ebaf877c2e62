import { constants, X509Certificate } from 'node:crypto';
import {
  createSecureContext,
  createServer,
  type SecureContext,
  type SecureContextOptions,
  type Server,
} from 'node:tls';
import type { Credentials } from '../pki/credential-folder.js';
import { socketOptions } from './socket-options.js';

interface Made {
  readonly of: Credentials;
  readonly context: SecureContext;
  /** Milliseconds since 1970. */
  readonly notAfter: number;
}

/**
 * The mutual TLS of one node: what it shows, and whom it believes. A renewed certificate is shown from the next connection
 * on; what a certificate needs is made once.
 */
export class EdgeTls {
  #made: Made;

  /** Throws when the credentials are none. @param credentials the newest; the same object while they are the same */
  constructor(private readonly credentials: () => Credentials) {
    this.#made = make(credentials());
  }

  /** For connections to other nodes. */
  get context(): SecureContext {
    return this.#current().context;
  }

  /** Whether nobody would believe this node. */
  get isExpired(): boolean {
    return this.#current().notAfter <= Date.now();
  }

  /** Takes nobody without a certificate of the CA. */
  createServer(): Server {
    let shown = this.credentials();
    const server = createServer({
      ...socketOptions,
      // Who goes in the middle of a handshake is gone; after it the doorway allows it.
      allowHalfOpen: false,
      ...contextOptions(shown),
      requestCert: true,
      rejectUnauthorized: true,
    });
    // Before the server itself looks at the connection.
    server.prependListener('connection', () => {
      const newest = this.credentials();
      if (newest === shown) return;
      shown = newest;
      server.setSecureContext(contextOptions(newest));
    });
    return server;
  }

  #current(): Made {
    const newest = this.credentials();
    if (newest !== this.#made.of) this.#made = make(newest);
    return this.#made;
  }
}

function make(of: Credentials): Made {
  const notAfter = Date.parse(new X509Certificate(of.certificate).validTo);
  return { of, context: createSecureContext(contextOptions(of)), notAfter };
}

function contextOptions({ ca, certificate, privateKey }: Credentials): SecureContextOptions {
  return {
    ca,
    cert: certificate,
    key: privateKey,
    minVersion: 'TLSv1.3',
    // A resumed session would bring a certificate that nobody looks at again, and an edge lives as long as its run.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}
