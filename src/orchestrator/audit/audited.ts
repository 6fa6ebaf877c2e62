import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import type { ServiceBodies } from '../../grpc/add-service.js';
import type { CallContext } from '../../grpc/open-call.js';
import type { RpcError } from '../../grpc/rpc-error.js';
import { asRpcError } from '../../grpc/server-status.js';
import type { StreamEnd, StreamWriter } from '../../grpc/stream-writer.js';
import type { AuditSubject } from '../../store/audit-record.js';
import type { AuditEntry, AuditLog, AuditOutcome } from './audit-log.js';
import type { AuditedMethods } from './audited-methods.js';
import { identityOfCaller } from './identity-of-caller.js';

// biome-ignore lint/suspicious/noExplicitAny: bodies of different methods meet here; each was checked by ServiceBodies.
type Any = any;

/** The same bodies, whose calls are recorded: those of `methods` always, others when they were not permitted. */
export function audited<Service extends ServiceDefinition>(
  service: Service,
  bodies: ServiceBodies<Service>,
  methods: AuditedMethods<Service>,
  audit: AuditLog,
): ServiceBodies<Service> {
  const wrapped = Object.entries<MethodDefinition<Any, Any>>(service).map(([name, method]) => {
    const subjectOf = (methods as Any)[name] as ((request: Any) => AuditSubject) | undefined;
    const begin = (request: Any, context: CallContext): AuditEntry => {
      const subject = subjectOf?.(request) ?? { target: '' };
      const entry = audit.begin(identityOfCaller(context), method.path.slice(1), subject);
      audit.attribute(context, entry);
      return entry;
    };
    const end = (entry: AuditEntry, outcome: AuditOutcome): void => {
      if (subjectOf || isDenied(outcome)) audit.end(entry, outcome);
    };
    const body = (bodies as Any)[name];
    return [name, method.responseStream ? stream(body, begin, end) : unary(body, begin, end)];
  });
  return Object.fromEntries(wrapped);
}

type Begin = (request: Any, context: CallContext) => AuditEntry;
type End = (entry: AuditEntry, outcome: AuditOutcome) => void;

function unary(body: Any, begin: Begin, end: End) {
  return async (request: Any, context: CallContext) => {
    const entry = begin(request, context);
    try {
      const response = await body(request, context);
      end(entry, { code: 'OK', reason: unmetWish(response) });
      return response;
    } catch (thrown) {
      if (context.signal.aborted) {
        end(entry, { code: 'CANCELLED' });
        throw thrown;
      }
      // Here already, so that the record has the incident's id.
      const error = asRpcError(thrown, context.logger);
      end(entry, outcomeOf(error));
      throw error;
    }
  };
}

function stream(body: Any, begin: Begin, end: End) {
  return (request: Any, writer: StreamWriter<Any>, context: CallContext) => {
    const entry = begin(request, context);
    const answered: Promise<unknown> = body(request, writer, context);
    const over = answered.catch(() => {});
    // What a stream is about to tell of a change that is committed does not matter to it; and who hangs up takes back nothing
    // that waits for its turn, so the body knows last whether there was one.
    void writer.closed.then((how) => over.then(() => end(entry, entry.isRecorded ? { code: 'OK' } : endOf(how))));
    return answered;
  };
}

function endOf(how: StreamEnd): AuditOutcome {
  switch (how.kind) {
    case 'ended':
      return { code: 'OK' };
    case 'gone':
      return { code: 'CANCELLED' };
    case 'failed':
      return outcomeOf(how.error);
  }
}

function outcomeOf({ codeName, reason, metadata }: RpcError): AuditOutcome {
  return { code: codeName, reason, incident: metadata.incident };
}

/** A plan that was rejected is an answer, and no error. */
function unmetWish(response: Any): string {
  const outcome: unknown = response?.outcome?.$case;
  if (outcome === 'rejection') return 'PLAN_REJECTED';
  return outcome === 'stale' ? 'PLAN_STALE' : '';
}

function isDenied({ code }: AuditOutcome): boolean {
  return code === status[status.PERMISSION_DENIED] || code === status[status.UNAUTHENTICATED];
}
