import type { Socket } from 'node:net';

/**
 * Which of the waiting connections makes room for a new one: the oldest from the address that has the most, so that whoever
 * floods pushes out its own. @param waiting the oldest first, at least one
 */
export function whoseTurnToGo(waiting: Iterable<Socket>): Socket {
  const groups = new Map<string | undefined, { oldest: Socket; size: number }>();
  for (const socket of waiting) {
    const group = groups.get(socket.remoteAddress);
    if (group) group.size += 1;
    else groups.set(socket.remoteAddress, { oldest: socket, size: 1 });
  }
  const [most] = [...groups.values()].sort((one, other) => other.size - one.size);
  return most!.oldest;
}
