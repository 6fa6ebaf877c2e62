import type { Socket } from 'node:net';

/** Gives the first `bytes` bytes of a socket, once, and leaves the rest in it, paused. */
export function readBlock(socket: Socket, bytes: number, done: (block: Buffer) => void): void {
  const parts: Buffer[] = [];
  let filled = 0;
  const onData = (chunk: Buffer): void => {
    parts.push(chunk);
    filled += chunk.length;
    if (filled < bytes) return;
    socket.off('data', onData);
    socket.pause();
    const all = Buffer.concat(parts);
    if (all.length > bytes) socket.unshift(all.subarray(bytes));
    done(all.subarray(0, bytes));
  };
  socket.on('data', onData);
}
