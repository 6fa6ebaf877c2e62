import {
  OrchestratorServiceClient,
  OrchestratorServiceService as service,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import { limits } from '../../core/limits.js';
import { dial, unaryCall } from '../../grpc/client.js';
import { clientOptions } from '../../grpc/client-options.js';
import { RpcError } from '../../grpc/rpc-error.js';
import { tlsRefusal } from '../../grpc/tls-refusal.js';
import { whyUnanswered } from '../../grpc/why-unanswered.js';
import { type FoundCredentials, findCredentials, nodeCredentials, shown } from '../../pki/find-credentials.js';
import { bothRoles, type Check, type Finding, failed, ok, type Subject, skipped, warning } from '../check.js';

export const orchestratorCheck: Check = {
  name: 'orchestrator',
  roles: bothRoles,
  look: async (subject) => {
    const { role, orchestrator } = subject;
    if (orchestrator === undefined) return skipped('no --orchestrator was named');
    let client: OrchestratorServiceClient | undefined;
    let found: FoundCredentials | undefined;
    try {
      found = credentialsFor(orchestrator, subject);
      client = dial(orchestrator, OrchestratorServiceClient, clientOptions, shown(found));
      const asked = Date.now();
      const deadlineMillis = limits.doctorMillis / 2;
      const { now } = await unaryCall(client, service.listNodes, { pageSize: 1, pageToken: '' }, { deadlineMillis });
      return clockDifference(orchestrator, now?.getTime(), (asked + Date.now()) / 2);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (error.reason === 'CREDENTIALS_UNUSABLE' || error.reason === 'CERTIFICATE_EXPIRED') {
        return failed(error.message, 'join anew, or name another folder by --credentials');
      }
      // A node's certificate is good, and lists no nodes.
      if (error.reason === 'ROLE_MISSING') return ok(`${orchestrator} answers`);
      return (await turnedAway(role, orchestrator, error, found !== undefined)) ?? unanswered(orchestrator, error);
    } finally {
      client?.close();
    }
  },
};

function credentialsFor(
  address: string,
  { role, dataFolder, credentials: folder }: Subject,
): FoundCredentials | undefined {
  const node = role === 'agent' && folder === undefined ? nodeCredentials(dataFolder) : undefined;
  return node ?? findCredentials(address, { dataFolder, folder });
}

/** It is there, and this machine shows it no certificate, or not the right one. */
async function turnedAway(role: Subject['role'], address: string, error: RpcError, showed: boolean) {
  const refusal = await tlsRefusal(address, error, showed);
  if (refusal === undefined) return undefined;
  const join = role === 'agent' ? 'start the agent with --join' : `\`stageplane join TOKEN --orchestrator ${address}\``;
  const message =
    refusal === 'certificate-required'
      ? `${address} asks for a certificate, and none is kept here for it`
      : `${address} does not take the certificate that is kept here for it, or is another orchestrator (${refusal})`;
  const create = role === 'agent' ? 'token create' : 'token create --role launcher';
  return failed(message, `get a token by \`stageplane ${create}\` on its machine, then ${join}`);
}

function unanswered(address: string, error: RpcError): Finding {
  const advice = 'see whether it runs there, listens beyond its own machine, and no firewall is between';
  return failed(`no orchestrator answers at ${address} (${whyUnanswered(error) ?? error.message})`, advice);
}

/** @param theirs undefined of an older orchestrator; milliseconds since 1970, like ours at the same moment */
export function clockDifference(address: string, theirs: number | undefined, ours: number): Finding {
  if (theirs === undefined) return ok(`${address} answers`);
  const ahead = theirs - ours;
  const seconds = (Math.abs(ahead) / 1000).toFixed(1);
  const message = `${address} answers; its clock is ${seconds} s ${ahead < 0 ? 'behind' : 'ahead of'} this one`;
  if (Math.abs(ahead) <= limits.clockDifferenceMillis) return ok(message);
  return warning(message, 'let both machines keep their clocks by NTP: times in lists and logs do not match');
}
