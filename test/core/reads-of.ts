/** Property reads that `work` makes anywhere inside `value`. Reads, unlike milliseconds, are the same on every machine. */
export function readsOf<T extends object>(value: T, work: (value: T) => void): number {
  let reads = 0;
  const watched = (target: object): object =>
    new Proxy(target, {
      get: (object, key, receiver) => {
        reads++;
        const inner: unknown = Reflect.get(object, key, receiver);
        return typeof inner === 'object' && inner !== null ? watched(inner) : inner;
      },
    });
  work(watched(value) as T);
  return reads;
}
