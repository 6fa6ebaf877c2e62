/** Goes on after a sentence about what is not there: what there is instead, and what to do next. */
export function chooseAmong(names: readonly string[]): string {
  return names.length === 0
    ? 'and no other: use another node'
    : `only ${names.join(', ')}: choose one of those, or another node`;
}
