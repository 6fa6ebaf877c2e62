import { defineCommand } from '../command.js';
import { clientSettings } from '../config/common-settings.js';
import { readCount, readId, readText } from '../config/readers.js';
import { operand, optional, toggle, type Values } from '../config/setting.js';
import { answerSamplingSettings } from './sampling-settings.js';

const run = { id: operand(readId, { placeholder: '<run>', description: 'id of a run that is SERVING' }) };

const textSettings = {
  maxTokens: optional(readCount(1), {
    placeholder: '<count>',
    description: "tokens of one answer at most; default: the run's own limit",
  }),
  system: optional(readText, {
    placeholder: '<text>',
    description: 'what the model is told before everything else; for models with a chat template',
  }),
  ...answerSamplingSettings,
  ...clientSettings,
};

const generateSettings = {
  chat: toggle("make the prompt with the model's own chat template"),
  conversation: optional(readText, {
    placeholder: '<name>',
    description: 'prompts of one conversation cost only what is new in them',
  }),
  ...textSettings,
};

const generateOperands = {
  ...run,
  prompt: operand(readText, { placeholder: '<prompt>', description: 'the text to go on from; - reads it from stdin' }),
};

const chatSettings = {
  plain: toggle('send the text of the conversation as it is, for models without a chat template'),
  ...textSettings,
};

export type GenerateValues = Values<typeof generateSettings & typeof generateOperands>;
export type ChatValues = Values<typeof chatSettings & typeof run>;

/** What asks a run for text. */
export const textCommands = [
  defineCommand({
    name: 'generate',
    summary: 'answer one prompt with a run that is SERVING; Ctrl-C cancels the answer, not the run',
    settings: generateSettings,
    operands: generateOperands,
    examples: [
      'generate 7 "Why is the sky blue?" --chat',
      'generate 7 - --max-tokens 256 < prompt.txt',
      'generate 7 "One, two," --temperature 0.7 --seed 3 --stop .',
    ],
    check: ({ system, chat }) =>
      system !== undefined && !chat ? [{ field: '--system', message: 'needs a chat template; add --chat' }] : [],
    load: async () => (await import('../actions/generate.js')).generate,
  }),
  defineCommand({
    name: 'chat',
    summary: 'talk with a run that is SERVING; Ctrl-C cancels an answer, Ctrl-D ends the chat',
    settings: chatSettings,
    operands: run,
    examples: ['chat 7', 'chat 7 --system "Answer in one sentence."'],
    check: ({ system, plain }) =>
      system !== undefined && plain ? [{ field: '--system', message: 'needs a chat template; leave --plain out' }] : [],
    load: async () => (await import('../actions/chat.js')).chat,
  }),
];
