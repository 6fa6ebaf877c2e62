import { limits } from '../../core/limits.js';
import { defineCommand } from '../command.js';
import { clientSettings } from '../config/common-settings.js';
import { readCount, readDuration, readOneOf, readText } from '../config/readers.js';
import { optional, type Reading, required, toggle, type Values } from '../config/setting.js';
import type { Violation } from '../failure.js';
import { formatDuration } from '../format/duration.js';
import { checkPlacement, modelOperand, planSettings } from './plan-settings.js';

const settings = {
  ...planSettings,
  requestId: optional(readRequestId, {
    placeholder: '<id>',
    description: 'makes the request repeatable: the same id gives the same run; default: a random one',
  }),
  prompt: optional(readText, {
    placeholder: '<text>',
    description: 'print what the model makes of it, then end the run; - reads it from stdin; default: serve prompts',
  }),
  chat: toggle("take the prompt for what a user says, and make it ready with the model's own chat template"),
  restarts: required(readCount(0, limits.restartAttempts), {
    placeholder: '<n>',
    description: 'begin again after a fault, at most so many times, on the nodes that remain',
    fallback: '0',
  }),
  restartBackoff: required(readDuration(1, limits.restartBackoffMaxMillis), {
    placeholder: '<duration>',
    description: 'wait so long before that; doubles with each time',
    fallback: formatDuration(limits.restartBackoffMillis),
  }),
  wait: toggle('stay and show the run until it is DONE; Ctrl-C stops the run, a second one leaves it alone'),
  until: optional(readOneOf('ready', 'done'), {
    placeholder: '<goal>',
    description: 'wait until the run is ready (RUNNING) or done; default with --wait: done',
  }),
  ...clientSettings,
};

export type RunValues = Values<typeof settings & typeof modelOperand>;

export const runCommand = defineCommand({
  name: 'run',
  summary: 'plan a model and run it',
  settings,
  operands: modelOperand,
  examples: [
    'run model.gguf --stages 3 --prompt "Why is the sky blue?" --chat',
    'run model.gguf --wait',
    'run model.gguf --objective fewest-nodes --headroom 10 --pin 0=alpha',
    'run model.gguf --stages 3 --restarts 5',
    'run model.gguf --place 0=alpha,1=beta --until ready',
    'run model.gguf --engine llama.cpp --temperature 0.7 --top-k 40 --seed 7 --max-tokens 200',
    'run model.gguf --stages 2 --request-id nightly-7 --json',
  ],
  check,
  load: async () => (await import('../actions/run.js')).run,
});

function check(values: Partial<RunValues>): readonly Violation[] {
  const { prompt, chat, until } = values;
  const problems = [...checkPlacement(values)];
  if (chat && prompt === undefined) problems.push({ field: '--chat', message: 'is about a prompt; add --prompt' });
  if (prompt !== undefined && until !== undefined) {
    problems.push({ field: '--until', message: 'cannot be combined with --prompt, which waits for the answer' });
  }
  return problems;
}

function readRequestId(text: string): Reading<string> {
  const bytes = Buffer.byteLength(text);
  if (bytes >= 1 && bytes <= limits.requestIdBytes) return { kind: 'read', value: text };
  return { kind: 'refused', problem: `has ${bytes} bytes; 1 to ${limits.requestIdBytes} are allowed` };
}
