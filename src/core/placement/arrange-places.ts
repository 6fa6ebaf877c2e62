import type { SearchGrid } from './search-grid.js';
import type { Turn } from './search-order.js';

/** The roomiest `count` places with the pinned ones among them, the roomiest first. */
export function roomiestPlaces({ roomiest, pins }: SearchGrid, count: number): number[] {
  if (pins.size === 0) return roomiest.slice(0, count);
  const pinned = new Set(pins.values());
  const free = roomiest.filter((place) => !pinned.has(place)).slice(0, Math.max(0, count - pinned.size));
  const chosen = new Set([...free, ...pinned]);
  return roomiest.filter((place) => chosen.has(place));
}

/** The roomiest place last, where the head is, the second first, where the embedding is, the rest descending between. */
export function largestAtTheEnds(roomiest: readonly number[]): number[] {
  const [last, ...others] = roomiest;
  return last === undefined ? [] : [...others, last];
}

/** One place per stage: the pinned ones where they belong, the others in the order given. */
export function placePerStage(grid: SearchGrid, order: readonly number[]): number[] {
  const pinned = new Set(grid.pins.values());
  const free = order.filter((place) => !pinned.has(place)).values();
  return order.map((_, stage) => grid.pins.get(stage) ?? free.next().value!);
}

/**
 * An order in which places take turns, each to be taken or left out. Pinned ones may come at any time, as soon as enough
 * others have been: they get a turn between every two. A turn more does no harm, since their stage exists once.
 */
export function turnsOf(grid: SearchGrid, order: readonly number[]): Turn[] {
  const pinned = new Set(grid.pins.values());
  const pins = [...grid.pins].map(([stage, node], before) => ({ node, stage, othersBefore: stage - before }));
  const free = order.filter((place) => !pinned.has(place));
  const pinsAfter = (others: number) => pins.filter(({ othersBefore }) => othersBefore <= others);
  return [...pinsAfter(0), ...free.flatMap((node, at) => [{ node }, ...pinsAfter(at + 1)])];
}
