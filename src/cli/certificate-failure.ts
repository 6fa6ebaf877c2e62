import type { RpcError } from '../grpc/rpc-error.js';
import { type TlsRefusal, tlsRefusal } from '../grpc/tls-refusal.js';
import { exitCode } from './exit-code.js';
import type { Failure } from './failure.js';

/**
 * What a call means that failed for want of the right certificate; undefined when it failed for another reason.
 *
 * @param showed whether the call showed a certificate
 */
export async function certificateFailure(
  error: RpcError,
  address: string,
  showed: boolean,
): Promise<Failure | undefined> {
  const refusal = await tlsRefusal(address, error, showed);
  if (refusal === undefined) return undefined;
  const reason = refusal.toUpperCase().replaceAll('-', '_');
  const message = sentence(refusal, address);
  return { exitCode: exitCode.failure, code: 'UNAUTHENTICATED', reason, message, violations: [] };
}

function sentence(refusal: TlsRefusal, address: string): string {
  const join = `\`stageplane join TOKEN --orchestrator ${address}\``;
  switch (refusal) {
    case 'certificate-required':
      return `the orchestrator at ${address} asks for a certificate: get a token by \`stageplane token create --role launcher\` (or viewer) on its machine, then ${join}`;
    case 'certificate-refused':
      return `the orchestrator at ${address} does not take this certificate; it is of another CA, or has expired by its clock: join anew with ${join}`;
    case 'foreign-orchestrator':
      return `${address} is not the orchestrator that was joined, or was initialised anew: check the address, then join anew with ${join}`;
  }
}
