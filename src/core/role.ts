/** What a certificate's holder may do; `src/orchestrator/access-table.ts` says it method by method. */
export type Role = 'agent' | 'launcher' | 'viewer' | 'admin';

/** Roles that a token may give: an admin's certificate is made on the orchestrator's machine alone. */
export const joinRoles = ['agent', 'launcher', 'viewer'] as const;

export type JoinRole = (typeof joinRoles)[number];

export function isJoinRole(text: string): text is JoinRole {
  return (joinRoles as readonly string[]).includes(text);
}

/** Roles that a key may give: agents show certificates. */
export const keyRoles = ['viewer', 'launcher', 'admin'] as const;

export type KeyRole = (typeof keyRoles)[number];

export function isKeyRole(text: string): text is KeyRole {
  return (keyRoles as readonly string[]).includes(text);
}
