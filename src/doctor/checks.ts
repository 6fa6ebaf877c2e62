import type { Check } from './check.js';
import { clockCheck } from './checks/clock.js';
import { dataFolderCheck } from './checks/data-folder.js';
import { databaseCheck } from './checks/database.js';
import { fileSystemCheck } from './checks/file-system.js';
import { freeSpaceCheck } from './checks/free-space.js';
import { identityCheck } from './checks/identity.js';
import { listenCheck } from './checks/listen.js';
import { llamaCheck } from './checks/llama.js';
import { lockCheck } from './checks/lock.js';
import { memoryCheck } from './checks/memory.js';
import { modelsCheck } from './checks/models.js';
import { nodeVersionCheck } from './checks/node-version.js';
import { openFilesCheck } from './checks/open-files.js';
import { orchestratorCheck } from './checks/orchestrator.js';
import { runtimeFolderCheck } from './checks/runtime-folder.js';
import { sqliteCheck } from './checks/sqlite.js';

/** All that is looked at, in the order of the table: what a later line needs comes before it. */
export const checks: readonly Check[] = [
  nodeVersionCheck,
  sqliteCheck,
  llamaCheck,
  clockCheck,
  memoryCheck,
  openFilesCheck,
  dataFolderCheck,
  fileSystemCheck,
  freeSpaceCheck,
  lockCheck,
  databaseCheck,
  identityCheck,
  modelsCheck,
  runtimeFolderCheck,
  listenCheck,
  orchestratorCheck,
];
