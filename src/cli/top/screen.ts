import { writeSync } from 'node:fs';

/** The other screen that terminals have, without a cursor; and back, as if nothing had been there. */
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[H';
const LEAVE = '\x1b[?25h\x1b[?1049l';

/**
 * Takes the whole screen. Gives what gives it back, which happens in any case before the process ends, however it does, save
 * by a SIGKILL; what is said of a crash comes after it.
 */
export function takeScreen(fd: number): () => void {
  let isTaken = true;
  writeSync(fd, ENTER);
  const giveBack = () => {
    if (!isTaken) return;
    isTaken = false;
    process.off('exit', giveBack);
    process.off('uncaughtExceptionMonitor', giveBack);
    if (process.stdin.isTTY) process.stdin.setRawMode(false);
    try {
      writeSync(fd, LEAVE);
    } catch {
      // The terminal is gone: there is nobody to show anything to.
    }
  };
  process.on('exit', giveBack);
  process.on('uncaughtExceptionMonitor', giveBack);
  return giveBack;
}
