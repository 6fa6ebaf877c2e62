import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import { removableFolder } from '../../support/removable-folder.js';
import { describeStore } from '../store-contract.js';

describeStore('sqlite', () => {
  const folder = removableFolder();
  return {
    open: (options) => openSqliteStore(folder.path, options),
    openBackup: (file, options) => {
      const elsewhere = join(folder.path, 'elsewhere');
      mkdirSync(elsewhere);
      copyFileSync(file, join(elsewhere, 'stageplane.db'));
      return openSqliteStore(elsewhere, options);
    },
    remove: folder.remove,
  };
});
