import type { Listener } from './listener.js';

/** What became of an attempt to listen. */
export type BindResult =
  | Bound
  | {
      readonly kind: 'refused';
      readonly reason: 'INVALID_ADDRESS' | 'ADDRESS_IN_USE' | 'NOT_PERMITTED' | 'NO_SUCH_ADDRESS' | 'LISTEN_FAILED';
      /** One sentence that names the address and what to do next. */
      readonly message: string;
    };

export interface Bound extends Listener {
  readonly kind: 'bound';
  /** What a client dials: `host:port` with the real port, or `unix:/path`. */
  readonly address: string;
}

export type BindRefusal = Extract<BindResult, { kind: 'refused' }>;
