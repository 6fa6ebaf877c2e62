import type { AuditEvent } from '../../../gen/stageplane/v1/admin_service.js';
import { escapeControls } from './escape.js';

/** One event of the audit log: when, who, what, about what, and what came of it. */
export function auditLine(event: AuditEvent): string {
  const { at, identity, serial, action, subject, code, reason, incident, count } = event;
  const who = serial === '' ? identity : `${identity} (${serial.slice(0, 8)})`;
  const method = action.slice(action.indexOf('/') + 1) || 'different calls';
  const ending = [
    code === 'OK' && reason !== '' ? '' : code || 'different ends',
    reason,
    incident && `incident ${incident}`,
  ];
  const parts = [at?.toISOString() ?? '', who, method, subject, ending.filter((part) => part !== '').join(' ')];
  const line = parts.filter((part) => part !== '').join('  ');
  return escapeControls(count > 1 ? `${line}  ${count} times` : line);
}
