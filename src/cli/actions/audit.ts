import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AdminServiceClient,
  AuditEvent,
  ListAuditEventsRequest,
  ListAuditEventsResponse,
  AdminServiceService as service,
} from '../../../gen/stageplane/v1/admin_service.js';
import { limits } from '../../core/limits.js';
import { unaryCall } from '../../grpc/client.js';
import { RpcError } from '../../grpc/rpc-error.js';
import type { Invocation } from '../command.js';
import type { AuditValues } from '../commands/audit.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { auditLine } from '../format/audit-line.js';
import { listenForInterrupts } from '../interrupts.js';
import type { Output } from '../output.js';
import { withAdmin } from '../with-admin.js';

/** The newest events of the audit log, oldest of them first. */
export function auditAction({ values, output }: Invocation<AuditValues>): Promise<ExitCode> {
  return withAdmin(output, values.data, async (client) => {
    const wanted = wantedOf(values);
    const events = await newest(client, wanted, values.limit);
    if (values.follow) return follow(client, output, wanted, events);
    if (output.json) output.document(ListAuditEventsResponse.toJSON({ events, nextPageToken: '' }));
    else if (events.length === 0) output.print('nothing of that kind was recorded');
    else show(output, events);
    return exitCode.ok;
  });
}

function wantedOf({ since, run = 0n, node = 0n, by = '', method = '' }: AuditValues): ListAuditEventsRequest {
  const from = since === undefined ? undefined : new Date(Date.now() - since);
  return ListAuditEventsRequest.create({ since: from, runId: run, nodeId: node, by, method });
}

async function newest(client: AdminServiceClient, wanted: ListAuditEventsRequest, most: number): Promise<AuditEvent[]> {
  const events: AuditEvent[] = [];
  let pageToken = '';
  do {
    const pageSize = Math.min(most - events.length, limits.pageSize);
    const page = await unaryCall(client, service.listAuditEvents, { ...wanted, pageSize, pageToken });
    events.push(...page.events);
    pageToken = page.nextPageToken;
  } while (pageToken !== '' && events.length < most);
  return events.reverse();
}

async function follow(
  client: AdminServiceClient,
  output: Output,
  wanted: ListAuditEventsRequest,
  seen: readonly AuditEvent[],
): Promise<ExitCode> {
  const { first: signal, ignore } = listenForInterrupts();
  show(output, seen);
  let last = seen.at(-1)?.eventId ?? 0n;
  try {
    for (;;) {
      const request = { ...wanted, pageSize: limits.pageSize, afterEventId: last };
      const { events } = await unaryCall(client, service.listAuditEvents, request, { signal });
      show(output, events);
      last = events.at(-1)?.eventId ?? last;
      if (events.length < limits.pageSize) await sleep(limits.auditFollowMillis, undefined, { signal });
    }
  } catch (error) {
    if (signal.aborted && (error instanceof RpcError || (error as Error).name === 'AbortError'))
      return exitCode.interrupted;
    throw error;
  } finally {
    ignore();
  }
}

function show(output: Output, events: readonly AuditEvent[]): void {
  for (const event of events) {
    if (output.json) output.jsonLine(AuditEvent.toJSON(event));
    else output.print(auditLine(event));
  }
}
