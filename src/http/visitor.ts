import type { FastifyRequest } from 'fastify';
import type { KeyHolder } from '../core/key-holder.js';
import { isLoopback } from '../grpc/listen-address.js';
import { type HttpRefusal, refusal } from './http-refusal.js';
import type { KeyRing } from './key-ring.js';

/** The cookie in which a browser keeps its key. */
export const KEY_COOKIE = 'stageplane_key';

/** Who asks for something over HTTP. */
export interface Visitor {
  readonly peer: string;
  /** Absent for somebody of this machine, where nobody has to show anything. */
  readonly key?: KeyHolder | undefined;
}

export interface Admission {
  readonly keys: KeyRing;
  /** Whether this machine's own users may come in without a key. */
  readonly trustsThisMachine: boolean;
  /** Told of everybody who is not let in. */
  onRefused(peer: string, why: HttpRefusal): void;
}

/**
 * Lets a request in, by its key or because it comes from this machine. A page of another site can make a browser of this
 * machine send requests too, under a name that it owns: hence the looks at Host and Origin.
 */
export function admit(request: FastifyRequest, { keys, trustsThisMachine }: Admission): Visitor | HttpRefusal {
  const peer = peerOf(request);
  const { authorization } = request.headers;
  if (authorization === undefined && isForeign(request)) return foreignOrigin(request.headers.origin);
  const shown = authorization === undefined ? request.cookies[KEY_COOKIE] : bearer(authorization);
  const isNeighbour = trustsThisMachine && isOfThisMachine(request);
  if (shown === undefined || shown === '') return isNeighbour ? { peer } : keyNeeded(request, trustsThisMachine);
  const key = keys.find(shown);
  if (key) return { peer, key };
  // Programs that insist on some key are given `none` or `sk-...`; where no key is needed none can be wrong.
  return isNeighbour ? { peer } : badKey();
}

/** `host:port` of whoever asks. */
export function peerOf({ ip, socket }: FastifyRequest): string {
  return `${ip}:${socket.remotePort ?? 0}`;
}

/** The key in an Authorization header; empty when there is none. */
export function bearer(authorization: string): string {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '';
}

/** Pictures and frames of another page are asked for without an Origin, and a GET can make a run answer. */
function isForeign({ headers: { origin, host, 'sec-fetch-site': site } }: FastifyRequest): boolean {
  if (site === 'cross-site' || site === 'same-site') return true;
  if (origin === undefined) return false;
  return URL.canParse(origin) ? new URL(origin).host !== host : true;
}

/** Not through a proxy, which others may reach, and under a name of this machine alone. */
function isOfThisMachine({ ip, headers }: FastifyRequest): boolean {
  const isForwarded = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some((name) => name in headers);
  const host = headers.host ?? '';
  const named = /:\d+$/.test(host) ? host : `${host}:80`;
  return !isForwarded && isLoopback(`${ip.includes(':') ? `[${ip}]` : ip}:0`) && isLoopback(named);
}

function keyNeeded({ headers: { host = '' } }: FastifyRequest, trustsThisMachine: boolean): HttpRefusal {
  const why = trustsThisMachine
    ? `requests to "${host.slice(0, 100)}" need a key; on this machine ask 127.0.0.1 or localhost instead, or show one`
    : 'every request needs a key';
  return refusal(401, 'KEY_NEEDED', `${why}: "Authorization: Bearer ...", with a key of \`stageplane key create\``);
}

function badKey(): HttpRefusal {
  return refusal(401, 'KEY_UNKNOWN', 'this key is unknown, expired or revoked: make one with `stageplane key create`');
}

function foreignOrigin(origin = 'another site'): HttpRefusal {
  const message = `a page of ${origin.slice(0, 100)} may not ask here: open the dashboard by the address of this server itself`;
  return refusal(403, 'FOREIGN_ORIGIN', message);
}
