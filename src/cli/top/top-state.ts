import type { Node } from '../../../gen/stageplane/v1/node.js';
import type { Run, RunEvent, RunSummary, TextLoad } from '../../../gen/stageplane/v1/run.js';
import type { RunView } from '../run-view.js';

/** What `stageplane top` knows. */
export interface TopState {
  readonly nodes: ReadonlyMap<bigint, Node>;
  readonly runs: ReadonlyMap<bigint, TopRun>;
  /** The newest events of all runs, oldest first; bounded. */
  readonly events: readonly TopEvent[];
  /** Newest revision that was heard of. */
  readonly revision: bigint;
  readonly connection: TopConnection;
}

export type TopConnection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  /** Tried again until it is there. */
  | { readonly kind: 'lost'; readonly since: Date; readonly why: string };

export interface TopRun {
  readonly view: RunView;
  /** Not escaped, as everything here. */
  readonly modelId: string;
  readonly createdAt: Date | undefined;
  /** Up to where `view` is true. */
  readonly revision: bigint;
  /** Why it ended, by the list of runs; the view of a run that was looked at has more of it. */
  readonly cause: string;
  readonly textLoad: TextLoad | undefined;
  /** Everything that has happened to it, once somebody has asked. */
  readonly timeline: readonly TopEvent[] | undefined;
}

/** One event in words. */
export interface TopEvent {
  readonly revision: bigint;
  readonly runId: bigint;
  readonly line: string;
}

/** What comes from the orchestrator, or does not. */
export type TopUpdate =
  | { readonly kind: 'node'; readonly node: Node }
  | { readonly kind: 'node-removed'; readonly nodeId: bigint }
  /** Every node has been told since the watch began: the others are gone. */
  | { readonly kind: 'nodes-told'; readonly nodeIds: ReadonlySet<bigint> }
  | { readonly kind: 'event'; readonly event: RunEvent }
  | { readonly kind: 'revision'; readonly revision: bigint }
  /** The newest runs. @property isAll no older one is left out */
  | { readonly kind: 'runs'; readonly summaries: readonly RunSummary[]; readonly isAll: boolean }
  | { readonly kind: 'run'; readonly run: Run }
  | { readonly kind: 'timeline'; readonly runId: bigint; readonly events: readonly RunEvent[] }
  /** A backup was put back: nothing that was told is true any more. */
  | { readonly kind: 'begun-anew' }
  | { readonly kind: 'connected' }
  | { readonly kind: 'lost'; readonly at: Date; readonly why: string };

export const nothingYet: TopState = {
  nodes: new Map(),
  runs: new Map(),
  events: [],
  revision: 0n,
  connection: { kind: 'connecting' },
};
