import {
  CreateApiKeyResponse,
  ListApiKeysResponse,
  RevokeApiKeyResponse,
  AdminServiceService as service,
} from '../../../gen/stageplane/v1/admin_service.js';
import { unaryCall } from '../../grpc/client.js';
import type { Invocation } from '../command.js';
import type { AccessListValues, KeyCreateValues, KeyRevokeValues } from '../commands/access.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { renderTable } from '../format/table.js';
import { withAdmin } from '../with-admin.js';

export function keyCreate({ values, output }: Invocation<KeyCreateValues>): Promise<ExitCode> {
  return withAdmin(output, values.data, async (client) => {
    const { name = '', role, ttl = 0 } = values;
    const made = await unaryCall(client, service.createApiKey, { name, role, ttlMillis: BigInt(ttl) });
    if (output.json) output.document(CreateApiKeyResponse.toJSON(made));
    else {
      output.print(made.key);
      const until = made.created?.expiresAt ? `until ${made.created.expiresAt.toISOString()}` : 'until it is revoked';
      output.aside(`it is not shown again; ${until} send it as: Authorization: Bearer KEY`);
    }
    return exitCode.ok;
  });
}

export function keyList({ values, output }: Invocation<AccessListValues>): Promise<ExitCode> {
  return withAdmin(output, values.data, async (client) => {
    const listed = await unaryCall(client, service.listApiKeys, {});
    if (output.json) output.document(ListApiKeysResponse.toJSON(listed));
    else {
      const rows = listed.keys.map(({ keyId, name, role, createdAt, expiresAt }) => [
        keyId,
        name,
        role,
        createdAt?.toISOString() ?? '',
        expiresAt?.toISOString() ?? 'never',
      ]);
      const titles = ['KEY', 'NAME', 'ROLE', 'CREATED', 'EXPIRES'].map((head) => ({ head }));
      output.print(rows.length === 0 ? 'there is no key' : renderTable(titles, rows));
    }
    return exitCode.ok;
  });
}

export function keyRevoke({ values, output }: Invocation<KeyRevokeValues>): Promise<ExitCode> {
  return withAdmin(output, values.data, async (client) => {
    const revoked = await unaryCall(client, service.revokeApiKey, { keyId: values.id });
    if (output.json) output.document(RevokeApiKeyResponse.toJSON(revoked));
    else output.print(`the key of "${revoked.name}" is revoked`);
    return exitCode.ok;
  });
}
