import { existsSync } from 'node:fs';
import { Run } from '../../../gen/stageplane/v1/run.js';
import { runDemo } from '../../demo/run-demo.js';
import { writeTinyModel } from '../../gguf/tiny-model.js';
import type { Invocation } from '../command.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { listenForInterrupts } from '../interrupts.js';
import type { Output } from '../output.js';

interface DemoValues {
  readonly model: string | undefined;
  readonly writeModel: string | undefined;
  readonly secure: boolean;
  readonly keep: boolean;
  readonly json: boolean;
}

export async function demo({ values, output }: Invocation<DemoValues>): Promise<ExitCode> {
  const { model, writeModel, secure, keep } = values;
  if (writeModel !== undefined) return giveModel(writeModel, output);
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
    return failed(error instanceof Error ? error.message : String(error), output);
  }
}

/** Whoever has no small model at hand can try all the rest with this one. */
async function giveModel(path: string, output: Output): Promise<ExitCode> {
  if (existsSync(path)) return failed(`${path} is there already: name another file, or remove it`, output);
  try {
    await writeTinyModel(path, { chatTemplate });
  } catch (error) {
    return failed(`the model cannot be written: ${error instanceof Error ? error.message : String(error)}`, output);
  }
  if (output.json) output.document({ model: path });
  else output.print(`wrote ${path}: 8 layers with random weights, so its text means nothing`);
  return exitCode.ok;
}

const chatTemplate =
  '{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}';

function failed(message: string, output: Output): ExitCode {
  return output.fail({ exitCode: exitCode.failure, code: 'UNKNOWN', reason: 'DEMO_FAILED', message, violations: [] });
}
