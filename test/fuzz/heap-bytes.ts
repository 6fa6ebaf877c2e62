import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What is held after the collector has been through. */
export function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}
