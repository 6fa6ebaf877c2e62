import { connect } from 'node:net';

/** Whether somebody answers on a Unix socket that lies there: `stale` is left by a process that was killed. */
export function probeSocket(path: string): Promise<'live' | 'stale' | 'unknown'> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve('live');
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED') resolve('stale');
      // Its queue of connections is full: somebody is there.
      else resolve(code === 'EAGAIN' ? 'live' : 'unknown');
    });
  });
}
