import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import { describeStore } from '../store-contract.js';
import { removableFolder } from './removable-folder.js';

describeStore('sqlite', () => {
  const folder = removableFolder();
  return { open: (options) => openSqliteStore(folder.path, options), remove: folder.remove };
});
