/** `ackDeadline` is `--ack-deadline` on the command line. */
export function flagOf(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** `ackDeadline` is `STAGEPLANE_ACK_DEADLINE` in the environment. */
export function variableOf(key: string): string {
  return `STAGEPLANE_${key.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
}
