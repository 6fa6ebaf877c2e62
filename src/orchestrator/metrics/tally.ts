import type { Sample } from './families.js';

/** Counts by a number of a generated enum; what has no name there is counted as `other`. */
export class Tally {
  private readonly counts = new Map<number, number>();

  /** @param names values of the label, by number */
  constructor(
    private readonly label: string,
    private readonly names: ReadonlyMap<number, string>,
  ) {}

  add(key: number): void {
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
  }

  samples(): Sample[] {
    const named = [...this.names].map(([key, name]): Sample => [{ [this.label]: name }, this.counts.get(key) ?? 0]);
    let other = 0;
    for (const [key, count] of this.counts) if (!this.names.has(key)) other += count;
    return other === 0 ? named : [...named, [{ [this.label]: 'other' }, other]];
  }
}
