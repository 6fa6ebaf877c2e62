import { connect } from 'node:tls';
import { limits } from '../core/limits.js';
import { parseListenAddress } from './listen-address.js';
import type { RpcError } from './rpc-error.js';
import { whyUnanswered } from './why-unanswered.js';

/**
 * Why an orchestrator that is there did not answer: it asks for a certificate, and none was shown · what was shown is of another
 * CA, or expired by its clock · it is itself no orchestrator of the CA that was joined.
 */
export type TlsRefusal = 'certificate-required' | 'certificate-refused' | 'foreign-orchestrator';

/**
 * Looks once more at an address that did not answer a call: over TLS, showing nothing and believing nobody. A server tells a
 * client that it turns away no reason that gRPC hands on. Undefined when the reason is another.
 *
 * @param showed whether the call showed a certificate
 */
export async function tlsRefusal(address: string, error: RpcError, showed: boolean): Promise<TlsRefusal | undefined> {
  const unanswered = whyUnanswered(error);
  if (unanswered === undefined || unanswered === 'ECONNREFUSED' || address.startsWith('unix:')) return undefined;
  if (!(await speaksTls(address))) return undefined;
  if (!showed) return 'certificate-required';
  return isForeign(error.message) ? 'foreign-orchestrator' : 'certificate-refused';
}

/** Ours checks the name and the role; the chain is OpenSSL's to judge. */
function isForeign(message: string): boolean {
  return /self.signed|unable to (get|verify)|not that of an orchestrator|does not match/i.test(message);
}

function speaksTls(address: string): Promise<boolean> {
  const parsed = parseListenAddress(address);
  if (!parsed) return Promise.resolve(false);
  return new Promise((resolve) => {
    // Nothing is sent and nothing believed: only whether there is TLS is asked.
    const socket = connect({ ...parsed, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
    const settle = (speaks: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(speaks);
    };
    const timer = setTimeout(() => settle(false), limits.handshakeMillis);
    socket.once('secureConnect', () => settle(true));
    socket.on('error', () => settle(false));
  });
}
