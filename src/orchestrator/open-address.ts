import { isLoopback } from '../grpc/listen-address.js';

/** Why an orchestrator listens on `host:port` only when it is told twice to be insecure; undefined for this machine alone. */
export function openAddressProblem(listen: string): string | undefined {
  if (isLoopback(listen)) return undefined;
  const reason = 'can be reached from other machines and nothing is authenticated yet';
  return `"${listen}" ${reason}; listen on 127.0.0.1, run \`stageplane init\`, or add --insecure and --trust-network on a network you trust`;
}
