import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import { describeStore } from '../store-contract.js';
import { temporaryFolder } from './temporary-place.js';

describeStore('sqlite', () => {
  const folder = temporaryFolder();
  return { open: (options) => openSqliteStore(folder.path, options), remove: folder.remove };
});
