/**
 * Finds the records of a plan by stage index and edge id. A plan broken by hand may hold several of one index or id: the
 * first one counts. Records are raw: nothing is known of them but the key.
 */
export interface PlanRecords {
  stage(stageIndex: unknown): unknown;
  edge(edgeId: unknown): unknown;
}

/** What may be asked of any value at all, where a plan should be. */
export type RawPlan = { stages?: unknown; edges?: unknown } | null | undefined;
type RawStage = { stageIndex?: unknown } | null | undefined;
type RawEdge = { edgeId?: unknown } | null | undefined;

/**
 * Looks through the plan at each call. Remembers nothing, since a plan is an ordinary object that its owner may change
 * between two calls, and a position that was right once proves nothing about an earlier record.
 */
export function scannedRecords(plan: RawPlan): PlanRecords {
  return {
    stage: (stageIndex) => stagesOf(plan).find((stage) => stage?.stageIndex === stageIndex),
    edge: (edgeId) => edgesOf(plan).find((edge) => edge?.edgeId === edgeId),
  };
}

/** Looks through the plan once, to find many records in it. Good only as long as the plan stays as it is. */
export function indexedRecords(plan: RawPlan): PlanRecords {
  return {
    stage: firstRecords(stagesOf(plan), (stage) => stage?.stageIndex),
    edge: firstRecords(edgesOf(plan), (edge) => edge?.edgeId),
  };
}

/** The stage records of a plan, or none when there is no such list. */
export function stagesOf(plan: RawPlan): readonly RawStage[] {
  const stages = plan?.stages;
  return Array.isArray(stages) ? stages : [];
}

function edgesOf(plan: RawPlan): readonly RawEdge[] {
  const edges = plan?.edges;
  return Array.isArray(edges) ? edges : [];
}

/**
 * Finds the first record of a key. What is asked for next mostly stands where the last answer stood, or right behind it;
 * and where keys have only grown so far, as those of a sound plan do, nothing before it can have the same one.
 */
function firstRecords<T>(records: readonly T[], keyOf: (record: T) => unknown): (key: unknown) => T | undefined {
  let at = 0;
  let positions: Map<unknown, number> | undefined;
  return (key) => {
    if (positions === undefined && at < records.length) {
      const here = keyOf(records[at]!);
      if (here === key) return records[at];
      if (at + 1 < records.length && keyOf(records[at + 1]!) === key && isMore(key, here)) return records[++at];
    }
    positions ??= firstPositions(records, keyOf);
    const position = positions.get(key);
    return position === undefined ? undefined : records[position];
  };
}

function isMore(a: unknown, b: unknown): boolean {
  if (typeof a === 'bigint') return typeof b === 'bigint' && a > b;
  return typeof a === 'number' && typeof b === 'number' && a > b;
}

function firstPositions<T>(records: readonly T[], keyOf: (record: T) => unknown): Map<unknown, number> {
  const positions = new Map<unknown, number>();
  for (const [position, record] of records.entries()) {
    const key = keyOf(record);
    if (!positions.has(key)) positions.set(key, position);
  }
  return positions;
}
