import { limits } from '../core/limits.js';

/** From when to when, in milliseconds since 1970. */
export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/**
 * Clocks differ, so it begins a little in the past.
 *
 * @param now milliseconds since 1970
 * @param lifetime milliseconds
 */
export function validFor(now: number, lifetime: number): Validity {
  return { notBefore: new Date(now - limits.certificateSkewMillis), notAfter: wholeSecond(now + lifetime) };
}

/** Certificates know seconds only. */
function wholeSecond(millis: number): Date {
  return new Date(Math.floor(millis / 1000) * 1000);
}
