import type { ChatMessage } from '../../../gen/stageplane/v1/token_endpoint.js';
import { limits } from '../../core/limits.js';
import { quoted } from '../../core/quoted.js';
import { type Body, badField, isAbsent, isObject } from './body.js';

/** Roles of OpenAI, as chat templates call them. */
const roles = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
]);

export function readMessages({ messages }: Body): ChatMessage[] {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw badField('messages', 'messages is missing or empty: give a list of {"role", "content"}');
  }
  if (messages.length > limits.chatMessages) {
    const message = `there are ${messages.length} messages, ${limits.chatMessages} at most are taken: leave out old ones`;
    throw badField('messages', message);
  }
  return messages.map((message: unknown, index) => readMessage(message, `messages[${index}]`));
}

function readMessage(message: unknown, field: string): ChatMessage {
  if (!isObject(message)) throw badField(field, `${field} is ${quoted(message)}: give {"role", "content"}`);
  const role = typeof message.role === 'string' ? roles.get(message.role) : undefined;
  if (role === undefined) {
    const known = [...roles.keys()].join(', ');
    throw badField(`${field}.role`, `${field}.role is ${quoted(message.role)}: ${known} are understood here`);
  }
  for (const call of ['tool_calls', 'function_call', 'audio']) {
    const value = message[call];
    if (isAbsent(value) || (Array.isArray(value) && value.length === 0)) continue;
    throw badField(`${field}.${call}`, `${field}.${call} is not supported here: leave it out`, 'UNSUPPORTED_VALUE');
  }
  return { role, content: readContent(message.content, `${field}.content`) };
}

function readContent(content: unknown, field: string): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw badField(field, `${field} is ${quoted(content)}: give a string, or text parts`);
  return content.map((part, index) => readPart(part, `${field}[${index}]`)).join('\n');
}

function readPart(part: unknown, field: string): string {
  if (isObject(part) && part.type === 'text' && typeof part.text === 'string') return part.text;
  const kind = isObject(part) ? part.type : part;
  const message = `${field} is of type ${quoted(kind)}: only parts {"type": "text", "text"} can be read here`;
  throw badField(field, message, 'UNSUPPORTED_VALUE');
}
