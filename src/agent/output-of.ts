import { execFile } from 'node:child_process';
import { limits } from '../core/limits.js';

/** What a program prints; undefined when it is missing, fails or takes longer than `timeoutMillis`. Never rejects. */
export function outputOf(program: string, args: readonly string[], timeoutMillis: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = {
      timeout: timeoutMillis,
      killSignal: 'SIGKILL',
      maxBuffer: limits.machineAnswerBytes,
      windowsHide: true,
    } as const;
    try {
      execFile(program, [...args], options, (error, stdout) => resolve(error ? undefined : stdout));
    } catch {
      resolve(undefined);
    }
  });
}
