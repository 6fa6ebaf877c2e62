import { Metadata, type ServiceError } from '@grpc/grpc-js';
import type { Any } from '../../gen/google/protobuf/any.js';
import { BadRequest, ErrorInfo } from '../../gen/google/rpc/error_details.js';
import { Status } from '../../gen/google/rpc/status.js';
import { clipText } from '../core/clip-text.js';
import { limits } from '../core/limits.js';
import type { FieldViolation } from './field-violation.js';
import type { RpcError } from './rpc-error.js';

/** Trailer that carries `google.rpc.Status`; see google/rpc/status.proto and the gRPC richer error model. */
export const STATUS_DETAILS_KEY = 'grpc-status-details-bin';

/** Domain of every reason that this project gives. */
const ERROR_DOMAIN = 'stageplane';

const TYPE_PREFIX = 'type.googleapis.com/';

/** What a status says beyond its code and message. */
export interface StatusDetails {
  readonly code: number;
  readonly message: string;
  /** Empty when the server gave none. */
  readonly reason: string;
  readonly domain: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly fieldViolations: readonly FieldViolation[];
}

/**
 * Trailers of an error: `google.rpc.Status` with `ErrorInfo` and, when fields are at fault, `BadRequest`.
 *
 * At most `limits.statusDetailsBytes`: violations are dropped from the end until it fits, then the error's metadata,
 * because trailers over about 50 KB hang a grpc-js client.
 */
export function encodeStatusDetails(error: RpcError): Metadata {
  const violations = error.fieldViolations.slice(0, limits.violationsPerRejection).map(clipViolation);
  let bytes = encodeStatus(error, violations, error.metadata);
  while (bytes.length > limits.statusDetailsBytes && violations.length > 0) {
    violations.pop();
    bytes = encodeStatus(error, violations, error.metadata);
  }
  if (bytes.length > limits.statusDetailsBytes) bytes = encodeStatus(error, violations, {});

  const trailers = new Metadata();
  trailers.set(STATUS_DETAILS_KEY, bytes);
  return trailers;
}

/** Reads the details out of trailers or of what a client's call failed with; undefined when there are none to read. */
export function decodeStatusDetails(source: Metadata | ServiceError): StatusDetails | undefined {
  const trailers = source instanceof Metadata ? source : source.metadata;
  const bytes = trailers?.get(STATUS_DETAILS_KEY)[0];
  if (!(bytes instanceof Buffer)) return undefined;
  try {
    return readStatus(Status.decode(bytes));
  } catch {
    // Whatever the other side put there, the code and message of the call itself still stand.
    return undefined;
  }
}

function encodeStatus(
  error: RpcError,
  fieldViolations: FieldViolation[],
  metadata: Readonly<Record<string, string>>,
): Buffer {
  const info = ErrorInfo.encode({
    reason: error.reason,
    domain: ERROR_DOMAIN,
    metadata: { ...metadata },
  }).finish();
  const details = [pack('google.rpc.ErrorInfo', info)];
  if (fieldViolations.length > 0) {
    details.push(
      pack('google.rpc.BadRequest', BadRequest.encode(BadRequest.fromPartial({ fieldViolations })).finish()),
    );
  }
  return Buffer.from(
    Status.encode({
      code: error.code,
      message: error.message,
      details,
    }).finish(),
  );
}

function readStatus({ code, message, details }: Status): StatusDetails {
  const info = unpack(details, 'google.rpc.ErrorInfo', ErrorInfo);
  const badRequest = unpack(details, 'google.rpc.BadRequest', BadRequest);
  return {
    code,
    message,
    reason: info?.reason ?? '',
    domain: info?.domain ?? '',
    metadata: info?.metadata ?? {},
    fieldViolations:
      badRequest?.fieldViolations.map(({ field, description }) => ({
        field,
        description,
      })) ?? [],
  };
}

function pack(typeName: string, value: Uint8Array): Any {
  return { typeUrl: TYPE_PREFIX + typeName, value: Buffer.from(value) };
}

function unpack<T>(details: Any[], typeName: string, codec: { decode(bytes: Uint8Array): T }): T | undefined {
  // Only what follows the last slash names the type; the prefix is anyone's choice.
  const found = details.find((any) => any.typeUrl.slice(any.typeUrl.lastIndexOf('/') + 1) === typeName);
  return found && codec.decode(found.value);
}

function clipViolation({ field, description }: FieldViolation): FieldViolation {
  return {
    field: clipText(field, limits.violationBytes),
    description: clipText(description, limits.violationBytes),
  };
}
