import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import { removableFolder } from '../../support/removable-folder.js';
import { describeStore } from '../store-contract.js';

describeStore('sqlite', () => {
  const folder = removableFolder();
  return { open: (options) => openSqliteStore(folder.path, options), remove: folder.remove };
});
