import type { ExitCode } from './exit-code.js';

/** One thing that is wrong, and where. */
export interface Violation {
  /** A flag, a variable, or the path of a field; empty when there is no single place. */
  readonly field: string;
  readonly message: string;
}

/** Why a command could not do what it was asked, ready to be shown. */
export interface Failure {
  readonly exitCode: ExitCode;
  /** Name of a gRPC status code, such as `NOT_FOUND`. */
  readonly code: string;
  /** Constant in SCREAMING_SNAKE_CASE. */
  readonly reason: string;
  /** One sentence that names the thing and says what to do next. */
  readonly message: string;
  readonly violations: readonly Violation[];
  /** Lines that help a person, such as the end of a log. */
  readonly details?: readonly string[];
}
