import type { KeyHolder } from '../core/key-holder.js';
import { type KeyRecord, keyIdOf } from '../core/machine/access-records.js';
import type { KeyRing } from '../http/key-ring.js';
import type { Clock } from './clock.js';
import { keyDigest } from './key-text.js';

interface Visit {
  readonly keyId: string;
  end(): void;
}

/** Lets visitors of the HTTP port in by their keys, and shows those out whose key is good no longer. */
export class ApiKeys implements KeyRing {
  readonly #visits = new Set<Visit>();

  constructor(
    private readonly known: () => ReadonlyMap<string, KeyRecord>,
    private readonly clock: Clock,
  ) {}

  find(text: string): KeyHolder | undefined {
    const key = this.known().get(keyDigest(text));
    if (key === undefined || this.#hasExpired(key)) return undefined;
    return { id: keyIdOf(key), name: key.name, role: key.role };
  }

  enter({ id }: KeyHolder, end: () => void): () => void {
    const visit = { keyId: id, end };
    this.#visits.add(visit);
    const key = [...this.known().values()].find((one) => keyIdOf(one) === id);
    const callOff = key?.expiresAt === undefined ? () => {} : this.#atTheEndOf(key, end);
    return () => {
      callOff();
      this.#visits.delete(visit);
    };
  }

  /** After the revocation is committed: later visits are refused by then, and these end. */
  endVisitsOf(keyId: string): void {
    for (const visit of [...this.#visits]) if (visit.keyId === keyId) visit.end();
  }

  /** The clock's longest wait is shorter than most keys: what fires too early waits again. */
  #atTheEndOf(key: KeyRecord, end: () => void): () => void {
    let callOff = () => {};
    const wait = () => {
      callOff = this.clock.after((key.expiresAt ?? 0) - this.clock.wall(), () => {
        if (this.#hasExpired(key)) end();
        else wait();
      });
    };
    wait();
    return () => callOff();
  }

  #hasExpired({ expiresAt }: KeyRecord): boolean {
    return expiresAt !== undefined && expiresAt <= this.clock.wall();
  }
}
