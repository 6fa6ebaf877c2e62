import { userInfo } from 'node:os';
import type { CallContext } from '../../grpc/open-call.js';
import type { AuditIdentity } from '../../store/audit-record.js';
import { addressOf, callerOf } from '../caller.js';

/** Who made a call, as the audit log has it. */
export function identityOfCaller(context: Pick<CallContext, 'certificate' | 'peer'>): AuditIdentity {
  const caller = callerOf(context);
  switch (caller.kind) {
    case 'certificate': {
      const { role, name, serial } = caller.identity;
      return { kind: 'certificate', role, name, serial, address: addressOf(context.peer) };
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
