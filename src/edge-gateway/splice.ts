import type { Socket } from 'node:net';

/**
 * Passes the bytes of two sockets on to each other until both are closed. Each socket holds at most its high-water mark
 * and one chunk per direction (I16), and nothing is copied. An end is passed on after the bytes before it. A reset becomes an end
 * without them, which a worker takes for the same: its neighbour is gone.
 */
export function splice(left: Socket, right: Socket): void {
  passOn(left, right);
  passOn(right, left);
  left.pipe(right);
  right.pipe(left);
}

function passOn(from: Socket, to: Socket): void {
  from.on('close', () => {
    const endedWell = from.readableEnded && from.errored === null;
    // After a good end `pipe` has ended the other one, which still has to write what it holds.
    if (!endedWell) to.destroy();
  });
}
