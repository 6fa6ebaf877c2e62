/** Branded ids: a node id is not a run id, though both are `uint64` on the wire. */

declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

export type RunId = Brand<bigint, 'RunId'>;
export type NodeId = Brand<bigint, 'NodeId'>;
/** Names one agent connection; random, made by the shell. */
export type SessionId = Brand<string, 'SessionId'>;
/** Number of a committed event: global, strictly growing, without gaps that fill later (I12). */
export type Revision = Brand<bigint, 'Revision'>;
/** Milliseconds on a clock that never goes back. Only differences mean anything. */
export type Millis = Brand<number, 'Millis'>;
/** Milliseconds since 1970, for people. It decides only when a drain ends, which no restart may put off. */
export type WallMillis = Brand<number, 'WallMillis'>;

export const runId = (value: bigint): RunId => value as RunId;
export const nodeId = (value: bigint): NodeId => value as NodeId;
export const sessionId = (value: string): SessionId => value as SessionId;
export const revision = (value: bigint): Revision => value as Revision;
export const millis = (value: number): Millis => value as Millis;
export const wallMillis = (value: number): WallMillis => value as WallMillis;

/** The orchestrator's own node id: the token endpoint stands here. Agents get ids from 2 on. */
export const ORCHESTRATOR_NODE_ID = nodeId(1n);
