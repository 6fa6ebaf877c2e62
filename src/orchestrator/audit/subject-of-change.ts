import { clipText } from '../../core/clip-text.js';
import { limits } from '../../core/limits.js';
import { type KeyRecord, keyIdOf } from '../../core/machine/access-records.js';
import type { Answer } from '../../core/machine/effects.js';
import type { ClusterEvent } from '../../core/machine/events.js';
import type { AuditSubject } from '../../store/audit-record.js';

/** What a request has changed, as far as only the answer tells; undefined when it was refused, or changed nothing. */
export function subjectOfChange(event: ClusterEvent, answer: Answer): Partial<AuditSubject> | undefined {
  switch (answer.kind) {
    case 'run':
      return { target: `run ${answer.runId}`, runId: answer.runId };
    case 'deleted':
    case 'node':
      return {};
    case 'token-kept':
      return event.kind === 'token-requested' ? { target: tokenTarget(event.token) } : {};
    case 'key-kept':
      return event.kind === 'key-requested' ? { target: keyTarget(event.key) } : {};
    case 'key-revoked':
      return {};
    case 'enrolled': {
      const { role, name, nodeId } = answer.holder;
      const serial = event.kind === 'enrol-requested' ? event.serial : '';
      return { target: `${role} ${JSON.stringify(name)}, certificate ${serial}`, nodeId };
    }
    case 'renewed':
      return event.kind === 'renewal-requested'
        ? { target: `certificate ${event.next.serial}`, nodeId: event.next.nodeId }
        : {};
    case 'revoked':
      return { target: clipText(`certificate ${answer.serials.join(', ')}`, limits.auditTargetBytes) };
    default:
      return undefined;
  }
}

function keyTarget(key: KeyRecord): string {
  return `key ${keyIdOf(key)} for ${key.role} ${JSON.stringify(key.name)}`;
}

function tokenTarget({ digest, role, nodeName }: { digest: string; role: string; nodeName: string }): string {
  return `token ${digest.slice(0, 12)} for ${role} ${nodeName === '' ? 'of any name' : JSON.stringify(nodeName)}`;
}
