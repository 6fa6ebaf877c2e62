import { defineCommand } from '../command.js';
import { clientSettings } from '../config/common-settings.js';
import { readCount, readExistingFolder, readId, readText } from '../config/readers.js';
import { list, operand, optional, toggle, type Values } from '../config/setting.js';
import type { Violation } from '../failure.js';

const settings = {
  prompt: optional(readText, {
    placeholder: '<text>',
    description: 'what a run that is SERVING is asked first; - reads it from stdin',
  }),
  chat: toggle("make the prompt with the model's own chat template"),
  maxTokens: optional(readCount(1), {
    placeholder: '<count>',
    description: "tokens of that answer at most; default: the run's own limit",
  }),
  model: optional(readText, {
    placeholder: '<file>',
    description: "the run's model on this machine; default: the path of its plan, or that name under --models",
  }),
  models: list(readExistingFolder, {
    placeholder: '<folder>',
    description: 'where the model is looked for; may be repeated',
    fallback: '.',
    environment: true,
  }),
  ...clientSettings,
};

const operands = {
  id: operand(readId, {
    placeholder: '<run>',
    description: 'id of a run that answers a prompt of its own, or is SERVING',
  }),
};

export type VerifyValues = Values<typeof settings & typeof operands>;

export const verifyCommand = defineCommand({
  name: 'verify',
  summary: "compare a run's text, token by token, with what the whole model says in one process on this machine",
  settings,
  operands,
  examples: [
    'verify 7',
    'verify 7 --model ~/models/model.gguf --json',
    'verify 8 --prompt "Why is the sky blue?" --chat',
  ],
  check,
  load: async () => (await import('../actions/verify.js')).verify,
});

function check({ prompt, chat, maxTokens }: Partial<VerifyValues>): readonly Violation[] {
  if (prompt !== undefined) return [];
  const message = 'is about a prompt; add --prompt';
  return [
    ...(chat ? [{ field: '--chat', message }] : []),
    ...(maxTokens === undefined ? [] : [{ field: '--max-tokens', message }]),
  ];
}
