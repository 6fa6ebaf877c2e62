import { type LoggerOptions, stdTimeFunctions } from 'pino';

/** Names of what must be in no log. Nobody logs it; should somebody, this is between them and the file. */
const secretNames = [
  'prompt',
  'text',
  'messages',
  'content',
  'token',
  'secret',
  'password',
  'key',
  'privateKey',
  'authorization',
  'cookie',
];

/** How every process of ours logs: the time for machines, ids as strings, and nothing that is secret. */
export const logOptions: LoggerOptions = {
  base: null,
  timestamp: stdTimeFunctions.isoTime,
  // By themselves, inside a field, and inside a field of one, such as the headers of a request.
  redact: { paths: secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[secret]' },
  formatters: { log: withIdsAsStrings },
};

/** A 64-bit id that is written as a number is read as another one. */
function withIdsAsStrings(fields: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(fields);
  if (!entries.some(([, value]) => typeof value === 'bigint')) return fields;
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]));
}
