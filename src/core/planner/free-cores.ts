import { limits } from '../limits.js';
import type { PoolNode } from './pool-node.js';

/** Threads that the live stages of one run have on a node. */
export interface ThreadReservation {
  readonly runId: bigint;
  readonly threads: number;
}

/**
 * Cores of a node that no live stage has reserved; undefined when the node does not know its cores. More threads than
 * cores make each of them wait for the others at every step: a token takes ten times as long.
 */
export function freeCores({ physicalCores, reservedThreads }: PoolNode): number | undefined {
  if (physicalCores === 0) return undefined;
  return Math.max(0, physicalCores - reservedThreads.reduce((sum, { threads }) => sum + threads, 0));
}

/** Why a node has no cores for so many stages of so many threads each; undefined when it has, or does not know. */
export function coresObstacle(node: PoolNode, stages: number, threads: number): string | undefined {
  const free = freeCores(node);
  if (free === undefined || stages * threads <= free) return undefined;
  const asked = `${counted(stages, 'stage')} of ${counted(threads, 'thread')}`;
  const ways = [
    ...(threads > 1 ? ['ask for fewer threads'] : []),
    ...(stages > 1 ? ['place fewer stages there'] : []),
    ...(node.reservedThreads.length > 0 ? ['stop a run there', 'start it with fewer threads'] : []),
    'use another node',
  ];
  const way = [ways.slice(0, -1).join(', '), ways.at(-1)].filter((part) => part !== '').join(' or ');
  return `node "${node.name}" has ${counted(node.physicalCores, 'core')}${reservations(node)}: ${asked} ${stages === 1 ? 'needs' : 'need'} ${stages * threads}; ${way}`;
}

function reservations({ reservedThreads }: PoolNode): string {
  if (reservedThreads.length === 0) return '';
  const named = reservedThreads.slice(0, limits.violationsPerRejection);
  const rest = reservedThreads.length - named.length;
  const more = rest > 0 ? `, and ${counted(rest, 'more run')} the rest` : '';
  return `, of which ${named.map(({ runId, threads }) => `run ${runId} has ${threads}`).join(', ')}${more}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
