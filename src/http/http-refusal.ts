import { limits } from '../core/limits.js';

/** Why a request over HTTP was not answered, as its body says it. */
export interface HttpRefusal {
  readonly statusCode: number;
  /** Constant in SCREAMING_SNAKE_CASE that programs decide by. */
  readonly reason: string;
  /** One sentence that names the thing and says what to do next. */
  readonly message: string;
  readonly fieldViolations: readonly { readonly field: string; readonly description: string }[];
  /** Figures that belong to the reason; `retryAfterMillis` becomes the header too. */
  readonly metadata: Readonly<Record<string, string>>;
}

export function refusal(
  statusCode: number,
  reason: string,
  message: string,
  parts: Partial<Pick<HttpRefusal, 'fieldViolations' | 'metadata'>> = {},
): HttpRefusal {
  return { statusCode, reason, message, fieldViolations: parts.fieldViolations ?? [], metadata: parts.metadata ?? {} };
}

/** A refusal on its way to whichever door words it. */
export class HttpError extends Error {
  override readonly name = 'HttpError';

  constructor(readonly refusal: HttpRefusal) {
    super(refusal.message);
  }
}

/** The headers that a refusal comes with: who comes too soon is told when to come again. */
export function refusalHeaders({ statusCode, metadata }: HttpRefusal): Record<string, string> {
  if (statusCode !== 429 && statusCode !== 503) return {};
  const millis = Number(metadata.retryAfterMillis ?? limits.httpRetryMillis);
  return { 'retry-after': String(Math.max(1, Math.ceil(millis / 1000))) };
}
