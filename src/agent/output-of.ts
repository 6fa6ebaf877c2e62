import { execFile } from 'node:child_process';

/** Bytes of output that a question to the machine may give. */
const OUTPUT_BYTES = 256 * 1024;

/** What a program prints; undefined when it is missing, fails or takes longer than `timeoutMillis`. Never rejects. */
export function outputOf(program: string, args: readonly string[], timeoutMillis: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = {
      timeout: timeoutMillis,
      killSignal: 'SIGKILL',
      maxBuffer: OUTPUT_BYTES,
      windowsHide: true,
    } as const;
    try {
      execFile(program, [...args], options, (error, stdout) => resolve(error ? undefined : stdout));
    } catch {
      resolve(undefined);
    }
  });
}
