import { Run } from '../../../gen/stageplane/v1/run.js';
import { runDemo } from '../../demo/run-demo.js';
import type { Invocation } from '../command.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { listenForInterrupts } from '../interrupts.js';

interface DemoValues {
  readonly model: string | undefined;
  readonly secure: boolean;
  readonly keep: boolean;
  readonly json: boolean;
}

export async function demo({ values, output }: Invocation<DemoValues>): Promise<ExitCode> {
  const { model, secure, keep } = values;
  // The second one changes nothing: what was started is being stopped already, within bounds.
  const { first: signal } = listenForInterrupts(['SIGINT', 'SIGTERM', 'SIGHUP']);
  const say = output.json ? () => {} : (line: string) => output.print(line);
  try {
    const { run, identical, leftovers, folder } = await runDemo({
      ...(model !== undefined && { model }),
      secure,
      keep,
      say,
      signal,
    });
    if (output.json) output.document({ run: Run.toJSON(run), identical, leftovers, folder });
    return identical && leftovers.length === 0 ? exitCode.ok : exitCode.failure;
  } catch (error) {
    if (signal.aborted) return exitCode.interrupted;
    const message = error instanceof Error ? error.message : String(error);
    return output.fail({ exitCode: exitCode.failure, code: 'UNKNOWN', reason: 'DEMO_FAILED', message, violations: [] });
  }
}
