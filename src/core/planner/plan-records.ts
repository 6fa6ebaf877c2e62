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
  const stages = firsts(stagesOf(plan), (stage) => stage?.stageIndex);
  const edges = firsts(edgesOf(plan), (edge) => edge?.edgeId);
  return { stage: (stageIndex) => stages.get(stageIndex), edge: (edgeId) => edges.get(edgeId) };
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

function firsts<T>(records: readonly T[], keyOf: (record: T) => unknown): Map<unknown, T> {
  const byKey = new Map<unknown, T>();
  for (const record of records) {
    const key = keyOf(record);
    if (!byKey.has(key)) byKey.set(key, record);
  }
  return byKey;
}
