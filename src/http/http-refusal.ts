/** Why a request over HTTP was not answered, as its body says it. */
export interface HttpRefusal {
  readonly statusCode: number;
  /** Constant in SCREAMING_SNAKE_CASE that programs decide by. */
  readonly reason: string;
  /** One sentence that names the thing and says what to do next. */
  readonly message: string;
  readonly fieldViolations: readonly { readonly field: string; readonly description: string }[];
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
