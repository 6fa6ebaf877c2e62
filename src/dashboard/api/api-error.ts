/** Why the orchestrator did not do what was asked, in its own words; status 0 is that nobody answered. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    /** Constant in SCREAMING_SNAKE_CASE. */
    readonly reason: string,
    message: string,
    readonly fieldViolations: readonly { readonly field: string; readonly description: string }[] = [],
  ) {
    super(message);
  }
}

/** The error in a body that the HTTP port has sent, or one that says that there was none. */
export function errorIn(status: number, body: unknown): ApiError {
  const { error } = (body ?? {}) as { error?: Partial<ApiError> };
  if (!error?.message) return new ApiError(status, 'NO_WORDS', `the server answered ${status} without a reason`);
  return new ApiError(status, error.reason ?? '', error.message, error.fieldViolations);
}
