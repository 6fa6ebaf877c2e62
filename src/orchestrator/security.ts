import type { OwnAuthority } from '../pki/authority-folder.js';
import type { Gatekeeper } from './gatekeeper.js';

/** What an orchestrator has whose folder was initialised. */
export interface Security extends OwnAuthority {
  /** SHA-256 of the CA, which tokens name. */
  readonly caDigest: string;
  /** Milliseconds of a certificate that it issues. */
  readonly lifetime: number;
  readonly gatekeeper: Gatekeeper;
}
