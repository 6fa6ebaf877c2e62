import { MemoryStore } from '../../src/store/memory-store.js';
import { describeStore } from './store-contract.js';

describeStore('memory', () => {
  let store: MemoryStore | undefined;
  return {
    open: (options) => {
      // Options belong to an opening, the content to the place; memory has one of each while it is empty.
      if (!store || isEmpty(store)) store = new MemoryStore(options);
      return store;
    },
    openBackup: (file, options) => MemoryStore.fromBackup(file, options),
    remove: () => {},
  };
});

function isEmpty(store: MemoryStore): boolean {
  const { cluster, runs, nodes, tokens, certificates, keys } = store.load();
  const records = [runs, nodes, tokens, certificates, keys];
  return cluster.epoch === 0n && cluster.revision === 0n && records.every(({ length }) => length === 0);
}
