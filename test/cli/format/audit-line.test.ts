import { expect, it } from 'vitest';
import { AuditEvent } from '../../../gen/stageplane/v1/admin_service.js';
import { auditLine } from '../../../src/cli/format/audit-line.js';

const stop = {
  at: new Date(0),
  identity: 'launcher lena',
  serial: '6751e90c493706a3',
  action: 'stageplane.v1.OrchestratorService/StopRun',
  subject: 'run 7',
  code: 'OK',
  count: 1,
};
const line = (parts: Partial<AuditEvent> = {}) => auditLine(AuditEvent.fromPartial({ ...stop, ...parts }));

it('says when who did what to which thing, and what came of it', () => {
  expect(line()).toBe('1970-01-01T00:00:00.000Z  launcher lena (6751e90c)  StopRun  run 7  OK');
  expect(line({ code: 'INTERNAL', reason: 'INTERNAL', incident: 'c0ffee' })).toMatch(
    / {2}INTERNAL INTERNAL incident c0ffee$/,
  );
  expect(line({ reason: 'PLAN_REJECTED' })).toMatch(/run 7 {2}PLAN_REJECTED$/);
  expect(line({ identity: 'several', serial: '', action: '', subject: '', code: '', count: 12 })).toBe(
    '1970-01-01T00:00:00.000Z  several  different calls  different ends  12 times',
  );
});

it('lets no name rewrite the terminal', () => {
  const shown = line({ subject: '"\u001b[2J\n"' });
  expect([shown.includes('\u001b'), shown.includes('\n')]).toEqual([false, false]);
});
