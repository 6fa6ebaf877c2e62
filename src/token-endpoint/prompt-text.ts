import { type GenerateText, TextRefusalReason } from '../../gen/stageplane/v1/token_endpoint.js';
import { limits } from '../core/limits.js';
import type { TokenizeOptions, Tokenizer } from './tokenizer.js';

export type PromptText =
  | { readonly kind: 'text'; readonly text: string; readonly options: TokenizeOptions }
  /** `message` is a whole sentence. */
  | { readonly kind: 'refused'; readonly reason: TextRefusalReason; readonly message: string };

/** The text that a request wants an answer to: its prompt, or what the model's chat template makes of its messages. */
export function promptText(request: GenerateText, tokenizer: Tokenizer): PromptText {
  const made = request.messages.length === 0 ? plainText(request) : chatText(request, tokenizer);
  // JSON can write half of a surrogate pair, which is no character of UTF-8.
  if (made.kind === 'text' && /\p{Surrogate}/u.test(made.text)) {
    return invalid('the prompt is not UTF-8: it has half of a surrogate pair');
  }
  return made;
}

/** Heard by whoever typed a command and by whoever wrote a program: what each of them does instead. */
const withoutTemplate =
  'the model brings no chat template: leave out --chat, call `generate` instead of `chat`, or send a prompt, such as to /v1/completions, instead of messages';

function plainText({ prompt, parseSpecial }: GenerateText): PromptText {
  const bytes = Buffer.byteLength(prompt);
  return bytes > limits.promptBytes
    ? invalid(`the prompt has ${bytes} bytes, ${limits.promptBytes} at most are taken: shorten it`)
    : { kind: 'text', text: prompt, options: { parseSpecial, addSpecial: true } };
}

function chatText({ prompt, messages }: GenerateText, { chat }: Tokenizer): PromptText {
  if (prompt !== '') return invalid('there are messages and a prompt: send one of them');
  if (chat === undefined) return unfit(withoutTemplate);
  const problem = problemOfMessages(messages);
  if (problem !== undefined) return unfit(problem);
  const rendered = chat.render(messages);
  if (rendered.kind === 'refused') return unfit(`the model's chat template ${rendered.problem}`);
  // A template that writes the first token itself would otherwise have it twice.
  const options = { parseSpecial: true, addSpecial: !rendered.hasBegin };
  return { kind: 'text', text: rendered.text, options };
}

function problemOfMessages(messages: GenerateText['messages']): string | undefined {
  if (messages.length > limits.chatMessages) {
    return `there are ${messages.length} messages, ${limits.chatMessages} at most are taken: leave out old ones`;
  }
  const nameless = messages.findIndex(({ role }) => role === '');
  if (nameless >= 0) return `message ${nameless} has no role: give it one, such as "user"`;
  const bytes = messages.reduce(
    (sum, { role, content }) => sum + Buffer.byteLength(role) + Buffer.byteLength(content),
    0,
  );
  return bytes > limits.promptBytes
    ? `the messages have ${bytes} bytes, ${limits.promptBytes} at most are taken: leave out old ones`
    : undefined;
}

function invalid(message: string): PromptText {
  return { kind: 'refused', reason: TextRefusalReason.TEXT_REFUSAL_REASON_INVALID_PROMPT, message };
}

function unfit(message: string): PromptText {
  return { kind: 'refused', reason: TextRefusalReason.TEXT_REFUSAL_REASON_CHAT_TEMPLATE, message };
}
