import {
  type IssuedCertificate,
  ListCertificatesResponse,
  RevokeCertificateResponse,
  AdminServiceService as service,
} from '../../../gen/stageplane/v1/admin_service.js';
import { unaryCall } from '../../grpc/client.js';
import type { Invocation } from '../command.js';
import type { AccessListValues, RevokeValues } from '../commands/access.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { escapeText } from '../format/escape.js';
import { renderTable } from '../format/table.js';
import { withAdmin } from '../with-admin.js';

export function certList({ values, output }: Invocation<AccessListValues>): Promise<ExitCode> {
  return withAdmin(output, values.data, async (client) => {
    const listed = await unaryCall(client, service.listCertificates, {});
    if (output.json) output.document(ListCertificatesResponse.toJSON(listed));
    else {
      const rows = listed.certificates.map((certificate) => [
        certificate.serial,
        certificate.role,
        escapeText(certificate.name),
        certificate.nodeId === 0n ? '' : String(certificate.nodeId),
        certificate.notAfter?.toISOString() ?? '',
        stateOf(certificate),
      ]);
      const titles = ['SERIAL', 'ROLE', 'NAME', 'NODE', 'EXPIRES', 'STATE'].map((head) => ({ head }));
      output.print(rows.length === 0 ? 'no certificate was issued yet' : renderTable(titles, rows));
    }
    return exitCode.ok;
  });
}

export function certRevoke({ values, output }: Invocation<RevokeValues>): Promise<ExitCode> {
  return withAdmin(output, values.data, async (client) => {
    const revoked = await unaryCall(client, service.revokeCertificate, { serial: values.serial });
    if (output.json) output.document(RevokeCertificateResponse.toJSON(revoked));
    else output.print(`revoked: ${revoked.serials.join(', ')}`);
    return exitCode.ok;
  });
}

function stateOf({ revoked, nodeDeleted }: IssuedCertificate): string {
  if (revoked) return 'revoked';
  return nodeDeleted ? 'node deleted' : 'good';
}
