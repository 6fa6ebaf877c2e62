import type { Role } from './role.js';

/** Who shows a key on the HTTP port, where others show a certificate. */
export interface KeyHolder {
  /** Names the key without being it. */
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}
