import {
  CreateJoinTokenResponse,
  ListJoinTokensResponse,
  AdminServiceService as service,
} from '../../../gen/stageplane/v1/admin_service.js';
import { unaryCall } from '../../grpc/client.js';
import type { Invocation } from '../command.js';
import type { AccessListValues, TokenCreateValues } from '../commands/access.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { renderTable } from '../format/table.js';
import { withAdmin } from '../with-admin.js';

export function tokenCreate({ values, output }: Invocation<TokenCreateValues>): Promise<ExitCode> {
  return withAdmin(output, values.data, async (client) => {
    const { node: nodeName = '', ttl, role } = values;
    const made = await unaryCall(client, service.createJoinToken, { nodeName, ttlMillis: BigInt(ttl), role });
    if (output.json) output.document(CreateJoinTokenResponse.toJSON(made));
    else {
      output.print(made.token);
      const how =
        role === 'agent'
          ? 'stageplane agent --orchestrator HOST:PORT --join TOKEN'
          : 'stageplane join TOKEN --orchestrator HOST:PORT';
      output.aside(`it is not shown again; redeem it until ${made.expiresAt?.toISOString()} with: ${how}`);
    }
    return exitCode.ok;
  });
}

export function tokenList({ values, output }: Invocation<AccessListValues>): Promise<ExitCode> {
  return withAdmin(output, values.data, async (client) => {
    const listed = await unaryCall(client, service.listJoinTokens, {});
    if (output.json) output.document(ListJoinTokensResponse.toJSON(listed));
    else {
      const rows = listed.tokens.map(({ tokenId, role, nodeName, expiresAt, usedBy }) => [
        tokenId,
        role,
        nodeName || 'any',
        expiresAt?.toISOString() ?? '',
        usedBy || 'nobody yet',
      ]);
      const titles = ['TOKEN', 'ROLE', 'FOR', 'EXPIRES', 'USED BY'].map((head) => ({ head }));
      output.print(rows.length === 0 ? 'there is no token' : renderTable(titles, rows));
    }
    return exitCode.ok;
  });
}
