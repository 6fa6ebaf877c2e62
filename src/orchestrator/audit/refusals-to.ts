import type { RpcError } from '../../grpc/rpc-error.js';
import { accessTable } from '../access-table.js';
import type { Shown } from '../caller.js';
import type { AuditLog } from './audit-log.js';
import { identityOfCaller } from './identity-of-caller.js';

/** What the gatekeeper calls for those it does not let in. */
export function refusalsTo(audit: AuditLog) {
  return (path: string, who: Shown, { codeName: code, reason }: RpcError): void => {
    // A path that names no method of ours is a text of the caller's.
    const method = path in accessTable ? path.slice(1) : 'unknown method';
    audit.end(audit.begin(identityOfCaller(who), method, { target: '' }), { code, reason });
  };
}
