import { userInfo } from 'node:os';
import type { AuditIdentity } from '../../store/audit-record.js';
import { addressOf, callerOf, type Shown } from '../caller.js';

/** Who made a call, as the audit log has it. */
export function identityOfCaller(shown: Shown): AuditIdentity {
  const caller = callerOf(shown);
  switch (caller.kind) {
    case 'certificate': {
      const { role, name, serial } = caller.identity;
      return { kind: 'certificate', role, name, serial, address: addressOf(shown.peer) };
    }
    case 'key': {
      const { role, name, id } = caller.identity;
      return { kind: 'key', role, name, serial: id, address: addressOf(shown.peer) };
    }
    case 'local':
      // The socket lets in nobody else but root, who cannot be told from anybody.
      return { kind: 'local', role: '', name: ownUser(), serial: '', address: '' };
    case 'stranger':
      return { kind: 'stranger', role: '', name: '', serial: '', address: caller.address };
  }
}

function ownUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without an entry, as in containers.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
