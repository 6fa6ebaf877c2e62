import type { HttpRefusal } from '../http-refusal.js';

/** An error as clients of OpenAI read it. */
export interface OpenAiError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

/** Codes that programs know from OpenAI; every other reason is its own, in small letters. */
const codes: Readonly<Record<string, string>> = {
  KEY_NEEDED: 'invalid_api_key',
  KEY_UNKNOWN: 'invalid_api_key',
  PROMPT_TOO_LONG: 'context_length_exceeded',
  TOO_MANY_REQUESTS: 'rate_limit_exceeded',
  TOO_MANY_CALLS: 'rate_limit_exceeded',
  INVALID_FIELDS: 'invalid_value',
  RUN_NOT_FOUND: 'model_not_found',
};

export function openAiError({ statusCode, reason, message, fieldViolations }: HttpRefusal): OpenAiError {
  const code = codes[reason] ?? reason.toLowerCase();
  return { error: { message, type: typeOf(statusCode), param: paramOf(fieldViolations[0]?.field), code } };
}

function typeOf(statusCode: number): string {
  if (statusCode === 429) return 'requests';
  return statusCode < 500 ? 'invalid_request_error' : 'server_error';
}

/** The field of the call behind it that has another name, or another place, in a request of OpenAI. */
function paramOf(field: string | undefined): string | null {
  return field?.replace(/^runtime\.(sampling\.)?/, '').replace(/_millis$/, '') ?? null;
}
