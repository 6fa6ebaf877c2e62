export type Role = 'orchestrator' | 'agent';

/** What is examined. Paths are absolute. */
export interface Subject {
  readonly role: Role;
  readonly dataFolder: string;
  /** `host:port` on which the orchestrator would listen. */
  readonly listen: string;
  /** `host:port` or `unix:/path`; undefined when nobody asks for one. */
  readonly orchestrator: string | undefined;
  /** Folder of the certificate to show it; undefined for what this machine or user has joined with. */
  readonly credentials?: string | undefined;
  readonly models: readonly string[];
}

/** What a check found: one sentence each, and what to do when not all is well. */
export type Finding =
  | { readonly kind: 'ok' | 'skipped'; readonly message: string }
  | { readonly kind: 'warning' | 'failed'; readonly message: string; readonly advice: string };

/** Looks at one thing and changes nothing, whether the daemon runs or not. */
export interface Check {
  /** As the table has it. */
  readonly name: string;
  readonly roles: readonly Role[];
  /** What it throws is a finding of its own. */
  look(subject: Subject): Finding | Promise<Finding>;
}

export const ok = (message: string): Finding => ({ kind: 'ok', message });
export const skipped = (message: string): Finding => ({ kind: 'skipped', message });
export const warning = (message: string, advice: string): Finding => ({ kind: 'warning', message, advice });
export const failed = (message: string, advice: string): Finding => ({ kind: 'failed', message, advice });

export const bothRoles: readonly Role[] = ['orchestrator', 'agent'];
