/** Names of a generated enum as values of a label: `PLAN_REJECTION_KIND_UNKNOWN_NODE` is `unknown_node`. By number. */
export function labelNames(
  values: Readonly<Record<string, string | number>>,
  prefix: string,
): ReadonlyMap<number, string> {
  const numbers = Object.entries(values).filter((entry): entry is [string, number] => typeof entry[1] === 'number');
  const known = numbers.filter(([name, number]) => number > 0 && name.startsWith(prefix));
  return new Map(known.map(([name, number]) => [number, name.slice(prefix.length).toLowerCase()]));
}
