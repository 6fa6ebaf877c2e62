import type { CertificateRecord } from './access-records.js';
import type { Draft } from './draft.js';
import type { CallId } from './events.js';
import { isSameHolder, refuseCertificate } from './refuse-certificate.js';

/**
 * Keeps the next certificate of somebody who showed a good one.
 *
 * @param shown serial of the one that was shown
 */
export function renewCertificate(draft: Draft, call: CallId, shown: string, next: CertificateRecord): void {
  // Revoked after the call had been let in.
  if (draft.access.certificate(shown)?.revoked) {
    const message = `certificate ${shown} was revoked: join anew with a token`;
    return draft.refuseAccess(call, 'PERMISSION_DENIED', 'CERTIFICATE_REVOKED', message);
  }
  if (next.nodeId !== undefined && !draft.node(next.nodeId)) {
    const message = `node ${next.nodeId} is not known here any more: let it join anew with a token`;
    return draft.refuseAccess(call, 'PERMISSION_DENIED', 'NOT_ENROLLED', message);
  }
  const refusal = refuseCertificate(draft, next);
  if (refusal) return draft.refuseAccess(call, refusal.code, refusal.reason, refusal.message);
  draft.access.putCertificate(next);
  draft.answer(call, { kind: 'renewed' });
}

/** Revokes whoever holds the certificate: one that was renewed from it is as good as it was. */
export function revokeCertificate(draft: Draft, call: CallId, serial: string): void {
  const { access } = draft;
  const named = access.certificate(serial);
  if (!named) {
    const message = `there is no certificate ${serial} that has not expired: name the whole serial that \`stageplane cert list\` shows`;
    return draft.refuseAccess(call, 'NOT_FOUND', 'CERTIFICATE_NOT_FOUND', message);
  }
  const theirs = access.allCertificates().filter((other) => isSameHolder(named, other));
  for (const certificate of theirs) access.putCertificate({ ...certificate, revoked: true });
  // A token that is answered again to its key would give what was taken.
  for (const token of access.allTokens()) {
    if (token.redeemed && isSameHolder(named, token.redeemed)) access.tokens.set(token.digest, undefined);
  }
  draft.say('warn', 'certificates were revoked', { role: named.role, name: named.name, count: theirs.length });
  draft.answer(call, { kind: 'revoked', serials: theirs.map((certificate) => certificate.serial) });
}
