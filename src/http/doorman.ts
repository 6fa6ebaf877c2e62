import type { FastifyRequest } from 'fastify';
import { limits } from '../core/limits.js';
import { CallRates } from '../grpc/call-rates.js';
import { HttpError, type HttpRefusal, refusal } from './http-refusal.js';
import { type Admission, admit, peerOf, type Visitor } from './visitor.js';

/** Lets requests in, each visitor's at a pace. Throws HttpError. */
export class Doorman {
  readonly #rates = new CallRates();
  readonly #wrongKeys = new CallRates({ burst: limits.wrongKeysAtOnce, perSecond: limits.wrongKeysPerSecond });

  constructor(readonly admission: Admission) {}

  admit(request: FastifyRequest): Visitor {
    const visitor = admit(request, this.admission);
    if ('reason' in visitor) throw new HttpError(this.#turnedAway(request, visitor));
    const wait = this.#rates.take(visitor.key?.id ?? request.ip, performance.now());
    if (wait > 0) throw new HttpError(tooMany(wait, 'too many requests of one visitor: slow down'));
    return visitor;
  }

  /** A right key is let in whatever wrong ones came from its address: nobody guesses one, and others may share the address. */
  #turnedAway(request: FastifyRequest, why: HttpRefusal): HttpRefusal {
    this.admission.onRefused(peerOf(request), why);
    if (why.reason !== 'KEY_UNKNOWN') return why;
    const wait = this.#wrongKeys.take(request.ip, performance.now());
    return wait === 0 ? why : tooMany(wait, 'too many wrong keys from one address: give the right one');
  }
}

function tooMany(wait: number, problem: string): HttpRefusal {
  const millis = Math.ceil(wait);
  const metadata = { retryAfterMillis: String(millis) };
  return refusal(429, 'TOO_MANY_CALLS', `${problem}, and try again in ${millis} ms`, { metadata });
}
