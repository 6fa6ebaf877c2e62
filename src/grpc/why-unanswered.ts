import { status } from '@grpc/grpc-js';
import type { RpcError } from './rpc-error.js';

/**
 * Why no server answered a call, in a word such as `ECONNREFUSED`; undefined when one did answer. A server of ours always
 * gives a reason of its own, so an error that has only its code comes from the call itself.
 */
export function whyUnanswered({ code, codeName, reason, message }: RpcError): string | undefined {
  if (reason !== codeName || (code !== status.UNAVAILABLE && code !== status.DEADLINE_EXCEEDED)) return undefined;
  return /\b(E[A-Z]{3,}|Name resolution failed)\b/.exec(message)?.[0] ?? codeName;
}
