/** Stands in for gRPC, which generated services ask for when they are loaded. */
export function makeGenericClientConstructor(): undefined {
  return undefined;
}
