/** Why two gateways do not come to an agreement about who they are. */
export type DistrustKind =
  /** The other side does not speak TLS. */
  | 'plaintext'
  /** It shows no certificate, or one of another CA. */
  | 'foreign-ca'
  /** Its certificate has expired, or this node's own has. */
  | 'expired'
  /** Its certificate is of this CA, and not of the node that was planned. */
  | 'other-node'
  /** The handshake did not end in time. */
  | 'handshake-timeout'
  /** The handshake failed in another way. */
  | 'handshake';

export interface Distrust {
  readonly kind: DistrustKind;
  /** Goes on a sentence about the other side, and says what to do. */
  readonly problem: string;
}

const join = 'join that node with a token of this cluster';
const foreign: Distrust = { kind: 'foreign-ca', problem: `shows a certificate of another CA: ${join}` };
const plaintext: Distrust = { kind: 'plaintext', problem: `does not speak TLS: ${join}` };
const expired: Distrust = {
  kind: 'expired',
  problem:
    'shows a certificate that is not valid now: compare the clocks, see why its agent could not renew it, or join that node anew with a token',
};

/** By the codes of OpenSSL and of Node. */
const known: Readonly<Record<string, Distrust>> = {
  CERT_HAS_EXPIRED: expired,
  CERT_NOT_YET_VALID: expired,
  SELF_SIGNED_CERT_IN_CHAIN: foreign,
  DEPTH_ZERO_SELF_SIGNED_CERT: foreign,
  UNABLE_TO_GET_ISSUER_CERT: foreign,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: foreign,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: foreign,
  CERT_SIGNATURE_FAILURE: foreign,
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: { kind: 'foreign-ca', problem: `shows no certificate: ${join}` },
  ERR_SSL_WRONG_VERSION_NUMBER: plaintext,
  ERR_SSL_HTTP_REQUEST: plaintext,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: plaintext,
  ERR_SSL_UNSUPPORTED_PROTOCOL: { kind: 'handshake', problem: 'speaks no TLS 1.3: install matching versions' },
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: { kind: 'handshake', problem: 'speaks no TLS 1.3: install matching versions' },
  ECONNRESET: { kind: 'handshake', problem: 'broke off its TLS handshake: see what is there, and what its log says' },
  ERR_TLS_HANDSHAKE_TIMEOUT: {
    kind: 'handshake-timeout',
    problem: 'does not end its TLS handshake: see what is there, and whether it is busy',
  },
};

/** Whether asking anew changes nothing, as long as nobody changes the other side; a machine that is busy gets more time. */
export function isDefinite(kind: DistrustKind): boolean {
  return kind !== 'handshake' && kind !== 'handshake-timeout';
}

/** What a failed handshake says. @param code of the error, or why a certificate was not believed */
export function distrustOf(code: string): Distrust {
  return known[code] ?? { kind: 'handshake', problem: `broke off its TLS handshake (${code}): see what is there` };
}
