import { existsSync, statSync } from 'node:fs';
import { formatBytes } from '../../core/format-bytes.js';
import { limits } from '../../core/limits.js';
import { databaseFiles } from '../../store/sqlite/database-files.js';
import { type DatabaseFacts, inspectDatabase } from '../../store/sqlite/inspect-database.js';
import { StoreError } from '../../store/store-error.js';
import { type Check, type Finding, failed, ok, skipped, warning } from '../check.js';
import { lockState } from '../lock-state.js';

const PAGE_BYTES = 4096;

export const databaseCheck: Check = {
  name: 'database',
  roles: ['orchestrator'],
  look: ({ dataFolder }) => {
    const { database, log, restoring } = databaseFiles(dataFolder);
    if (!existsSync(database)) {
      if (!existsSync(log) && !existsSync(restoring)) return ok('none yet; the first start makes it');
      return damaged(new StoreError('corrupt', dataFolder, 'stageplane.db is missing, what belongs to it is there'));
    }
    const { size } = statSync(database);
    if (size > limits.quickCheckBytes)
      return skipped(`${formatBytes(size)}; too large to be read here: make a backup, which is`);
    try {
      const inUse = lockState(dataFolder).kind === 'held';
      const facts = inspectDatabase(dataFolder, inUse);
      const { version, revision } = facts;
      return logFinding(
        log,
        `whole, version ${version}, revision ${revision}, ${auditText(facts)}, ${formatBytes(size)}`,
      );
    } catch (error) {
      if (error instanceof StoreError) return damaged(error);
      throw error;
    }
  },
};

function auditText({ auditRecords, auditSince }: DatabaseFacts): string {
  if (auditSince === undefined) return 'no audit record';
  const records = auditRecords === 1n ? 'audit record' : 'audit records';
  return `${auditRecords} ${records} since ${new Date(Number(auditSince)).toISOString()}`;
}

function logFinding(log: string, message: string): Finding {
  const found = statSync(log, { throwIfNoEntry: false });
  if (!found || found.size === 0) return ok(message);
  const written = `${message}; log of ${formatBytes(found.size)}, written ${found.mtime.toISOString()}`;
  if (found.size <= 2 * limits.databaseLogPages * PAGE_BYTES) return ok(written);
  return warning(written, 'the log has not been moved into the database for long: see whether a program has that open');
}

/** The sentence of a store ends with what to do. */
function damaged({ message }: StoreError): Finding {
  const at = message.lastIndexOf('): ');
  if (at < 0) return failed(message, 'see what it names');
  return failed(message.slice(0, at + 1), message.slice(at + 3));
}
