import type { SamplingPolicy } from '../../gen/stageplane/v1/plan.js';
import { quoted } from '../core/quoted.js';
import { snakeCase } from '../core/snake-case.js';
import { U64_MAX } from '../core/uint.js';

/** A generated message type, as far as a line needs it. */
interface JsonCodec<T> {
  fromJSON(json: unknown): T;
}

export type ParsedLine<T> =
  | { readonly kind: 'message'; readonly message: T }
  /** `problem` goes on a sentence that began with the line's sender. */
  | { readonly kind: 'malformed'; readonly problem: string };

/**
 * Reads one line as a message in protobuf's JSON mapping. The generated `fromJSON` is lenient: it makes -1 of an unknown
 * enum name, NaN of a word and "[object Object]" of an object, so each field is compared with what the line has there.
 * Unknown fields are left out: they may be of a newer minor version.
 */
export function parseMessageLine<T extends object>(codec: JsonCodec<T>, line: string): ParsedLine<T> {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return { kind: 'malformed', problem: `is not JSON: ${quoted(line)}` };
  }
  if (!isObject(json)) return { kind: 'malformed', problem: `is not a JSON object: ${quoted(line)}` };
  try {
    const message = codec.fromJSON(json);
    const problem = firstProblem(message, json, '');
    return problem === undefined ? { kind: 'message', message } : { kind: 'malformed', problem };
  } catch (error) {
    return { kind: 'malformed', problem: `has a value of the wrong type: ${quoted((error as Error).message)}` };
  }
}

/** The sint32 fields of these messages. */
const signed: ReadonlySet<string> = new Set<keyof SamplingPolicy>(['presencePenaltyMillis', 'frequencyPenaltyMillis']);

/** All other whole numbers are uint32, uint64 or enums, so that one rule per JavaScript type is enough. */
function firstProblem(parsed: unknown, json: unknown, path: string): string | undefined {
  const wrong = () => `has ${quoted(json)} at "${path}", which is not a value of that field`;
  switch (typeof parsed) {
    case 'number': {
      const isSigned = signed.has(path.slice(path.lastIndexOf('.') + 1));
      return parsed === (isSigned ? parsed | 0 : parsed >>> 0) ? undefined : wrong();
    }
    case 'bigint':
      return parsed >= 0n && parsed <= U64_MAX ? undefined : wrong();
    case 'string':
    case 'boolean':
      return typeof json === typeof parsed ? undefined : wrong();
    case 'object':
      return objectProblem(parsed, json, path) ?? (isObject(parsed) && !isObject(json) ? wrong() : undefined);
    default:
      return undefined;
  }
}

function objectProblem(parsed: unknown, json: unknown, path: string): string | undefined {
  if (Array.isArray(parsed)) {
    return firstOf(
      parsed.map((item, index) => () => firstProblem(item, (json as unknown[])[index], `${path}[${index}]`)),
    );
  }
  if (!isObject(parsed) || !isObject(json)) return undefined;
  return firstOf(
    Object.entries(parsed).map(([key, value]) => () => {
      // A oneof is one field here and as many as it has cases in JSON.
      const name = isObject(value) && typeof value.$case === 'string' ? value.$case : key;
      const content = name === key ? value : (value as { value: unknown }).value;
      const given = json[name] ?? json[snakeCase(name)];
      return given === undefined || given === null
        ? undefined
        : firstProblem(content, given, path === '' ? name : `${path}.${name}`);
    }),
  );
}

function firstOf(checks: (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const problem = check();
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
