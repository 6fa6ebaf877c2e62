import type {
  AdminServiceService,
  AuditEvent,
  ListAuditEventsRequest,
} from '../../../gen/stageplane/v1/admin_service.js';
import { type WallMillis, wallMillis } from '../../core/ids.js';
import { limits } from '../../core/limits.js';
import type { ServiceBodies } from '../../grpc/add-service.js';
import { throwIfAny } from '../../grpc/throw-if-any.js';
import type { AuditIdentity, AuditQuery, StoredAuditRecord } from '../../store/audit-record.js';
import type { Store } from '../../store/store.js';
import { readToken, writeToken } from '../page.js';
import type { AuditLog } from './audit-log.js';

/** Reading the audit log. */
export function auditCalls(
  store: Store,
  audit: AuditLog,
): Pick<ServiceBodies<typeof AdminServiceService>, 'listAuditEvents'> {
  return {
    async listAuditEvents(request) {
      const description = 'must be empty with after_event_id: ask again with the last event_id instead';
      throwIfAny(request.afterEventId !== undefined && request.pageToken ? [{ field: 'page_token', description }] : []);
      // Whoever asks sees what has happened until now.
      audit.flush();
      const size = Math.min(request.pageSize || limits.defaultPageSize, limits.pageSize);
      const found = store.auditRecords({ ...queryOf(request), limit: size + 1 });
      const page = found.slice(0, size);
      const isMore = found.length > size && request.afterEventId === undefined;
      return { events: page.map(eventOf), nextPageToken: isMore ? writeToken(page.at(-1)!.id) : '' };
    },
  };
}

function queryOf(request: ListAuditEventsRequest): Omit<AuditQuery, 'limit'> {
  const { afterEventId, pageToken, since, until, by, method, runId, nodeId } = request;
  return {
    after: afterEventId === undefined ? undefined : storable(afterEventId),
    before: pageToken === '' ? undefined : storable(readToken(pageToken)),
    since: askedTime('since', since),
    until: askedTime('until', until),
    by: by || undefined,
    method: method || undefined,
    runId: askedId(runId),
    nodeId: askedId(nodeId),
  };
}

function storable(id: bigint): bigint {
  return id <= limits.storedInteger ? id : limits.storedInteger;
}

function askedTime(field: string, time: Date | undefined): WallMillis | undefined {
  if (!time) return undefined;
  const description = 'is no moment that a clock can show: give another time';
  throwIfAny(Number.isNaN(time.getTime()) ? [{ field, description }] : []);
  return wallMillis(time.getTime());
}

/** 0 is any; an id that no store can hold is nobody's. */
function askedId(id: bigint): bigint | undefined {
  if (id === 0n) return undefined;
  return id <= limits.storedInteger ? id : -1n;
}

function eventOf({ id, kind, at, since, by, method, target, runId, nodeId, ...rest }: StoredAuditRecord): AuditEvent {
  const { role, name, serial, address } = by;
  return {
    ...rest,
    eventId: id,
    kind: kind === 'run' ? 'change' : kind,
    at: new Date(at),
    since: new Date(since),
    identity: nameOf(by),
    action: method,
    subject: target,
    role,
    name,
    serial,
    address,
    runId: runId ?? 0n,
    nodeId: nodeId ?? 0n,
  };
}

function nameOf({ kind, role, name, address }: AuditIdentity): string {
  switch (kind) {
    case 'certificate':
    case 'key':
      return `${role} ${name}`;
    case 'local':
      return `${name} on this machine`;
    case 'stranger':
      return `${address} without a certificate`;
    case 'several':
      return 'several';
  }
}
