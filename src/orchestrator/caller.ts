import type { KeyHolder } from '../core/key-holder.js';
import type { CallContext } from '../grpc/open-call.js';
import { type PeerIdentity, readIdentity } from '../pki/peer-identity.js';

/** Who makes a call, as far as that can be known. */
export type Caller =
  | { readonly kind: 'certificate'; readonly identity: PeerIdentity }
  | { readonly kind: 'key'; readonly identity: KeyHolder }
  /** Over a socket that nobody but the orchestrator's own user can open. */
  | { readonly kind: 'local' }
  /** Somebody without a certificate; `address` has no port, which is another one each time. */
  | { readonly kind: 'stranger'; readonly address: string };

/** What a call shows of who makes it. */
export type Shown = Pick<CallContext, 'certificate' | 'key' | 'peer'>;

export function callerOf({ certificate, key, peer }: Shown): Caller {
  if (key) return { kind: 'key', identity: key };
  const identity = certificate?.subject && readIdentity(certificate);
  if (identity) return { kind: 'certificate', identity };
  if (peer === 'unknown' || peer.startsWith('unix:')) return { kind: 'local' };
  return { kind: 'stranger', address: addressOf(peer) };
}

/** Without the port. */
export function addressOf(peer: string): string {
  return peer.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
}

/**
 * Whether a caller may name every file that the orchestrator itself may read. An operator may, who has the machine anyway;
 * so may programs of this machine where nobody has a certificate. All others are held to the models folders.
 */
export function mayNameAnyFile(caller: Caller): boolean {
  switch (caller.kind) {
    case 'certificate':
    case 'key':
      return caller.identity.role === 'admin';
    case 'local':
      return true;
    case 'stranger':
      return /^(127\.|::1$|::ffff:127\.)/.test(caller.address);
  }
}
