/** Why a message changed nothing (I6). */
export const ignoredKinds = [
  /** It came over a session that was never opened, or is not the newest any more. */
  'old-session',
  /** It is about a generation, or a run, that is not there any more. */
  'old-generation',
  /** It is about a stage of another node. */
  'foreign-stage',
  /** It says what was said before, or came after what follows it. */
  'out-of-date',
] as const;

export type IgnoredKind = (typeof ignoredKinds)[number];

/** Messages that changed nothing, by why. */
export type IgnoredMessages = Record<IgnoredKind, number>;

export function noneIgnored(): IgnoredMessages {
  return { 'old-session': 0, 'old-generation': 0, 'foreign-stage': 0, 'out-of-date': 0 };
}

export function addIgnored(to: IgnoredMessages, more: IgnoredMessages): void {
  for (const kind of ignoredKinds) to[kind] += more[kind];
}

export function ignoredInAll(messages: IgnoredMessages): number {
  return ignoredKinds.reduce((sum, kind) => sum + messages[kind], 0);
}
