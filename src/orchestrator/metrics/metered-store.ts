import type { Histogram, Registry } from 'prom-client';
import type { Store } from '../../store/store.js';
import { StoreError } from '../../store/store-error.js';
import { addCounter, addTotal, newDurations } from './families.js';

/** The same store, whose commits are measured. */
export function meteredStore(store: Store, registry: Registry): Store {
  const commits = newDurations(registry, {
    name: 'stageplane_store_commit_duration_seconds',
    help: 'How long a commit took, by when it was on the disk.',
    buckets: [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  });
  const failures = new Map<string, number>();
  let records = 0;
  addCounter(registry, {
    name: 'stageplane_store_commits_failed_total',
    help: 'Commits that the disk did not take, by kind of failure.',
    labelNames: ['kind'],
    read: () => [...failures].map(([kind, count]) => [{ kind }, count]),
  });
  addTotal(registry, 'stageplane_audit_records_total', 'Records that the audit log has taken in.', () => records);
  const commit: Store['commit'] = (changes, audit = []) => {
    measure(commits, failures, () => store.commit(changes, audit));
    records += audit.length;
  };
  const addAudit: Store['addAudit'] = (audit) => {
    store.addAudit(audit);
    records += audit.length;
  };
  return new Proxy(store, {
    get(target, key) {
      if (key === 'commit') return commit;
      if (key === 'addAudit') return addAudit;
      const value = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function measure(durations: Histogram<string>, failures: Map<string, number>, commit: () => void): void {
  const began = performance.now();
  try {
    commit();
  } catch (error) {
    const kind = error instanceof StoreError ? error.kind : 'defect';
    failures.set(kind, (failures.get(kind) ?? 0) + 1);
    throw error;
  }
  durations.observe((performance.now() - began) / 1000);
}
