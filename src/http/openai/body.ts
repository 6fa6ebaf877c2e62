import { quoted } from '../../core/quoted.js';
import { HttpError, refusal } from '../http-refusal.js';

/** What a client has sent, every field still to be judged. */
export type Body = Readonly<Record<string, unknown>>;

/** Why a field is not taken; `message` is a whole sentence. */
export function badField(field: string, message: string, reason = 'INVALID_FIELDS'): HttpError {
  return new HttpError(refusal(400, reason, message, { fieldViolations: [{ field, description: message }] }));
}

export function readBody(value: unknown): Body {
  if (isObject(value)) return value;
  const found = value === undefined ? 'there is no body' : `the body is ${quoted(value)}`;
  throw new HttpError(
    refusal(400, 'MALFORMED_MESSAGE', `${found}: send a JSON object, and content-type: application/json`),
  );
}

export function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Absent and null are the same to clients of OpenAI, here and in what follows. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

export function readText(body: Body, name: string): string | undefined {
  const value = body[name];
  if (isAbsent(value) || typeof value === 'string') return value ?? undefined;
  throw badField(name, `${name} is ${quoted(value)}: give a string`);
}

export function readFlag(body: Body, name: string): boolean {
  const value = body[name];
  if (isAbsent(value) || typeof value === 'boolean') return value ?? false;
  throw badField(name, `${name} is ${quoted(value)}: give true or false`);
}

export function readNumber(body: Body, name: string, least: number, most: number): number | undefined {
  const value = body[name];
  if (isAbsent(value)) return undefined;
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw badField(name, `${name} is ${quoted(value)}: give a number from ${least} to ${most}`);
}

export function readInteger(body: Body, name: string, least: number, most: number): number | undefined {
  const value = readNumber(body, name, least, most);
  if (value === undefined || Number.isInteger(value)) return value;
  throw badField(name, `${name} is ${value}: give a whole number from ${least} to ${most}`);
}

/** A string, or a list of them. */
export function readTexts(body: Body, name: string, most: number): readonly string[] {
  const value = body[name];
  if (isAbsent(value)) return [];
  const texts = Array.isArray(value) ? value : [value];
  if (texts.length > most) throw badField(name, `${name} has ${texts.length} entries: give ${most} at most`);
  const wrong = texts.find((text) => typeof text !== 'string');
  if (wrong === undefined) return texts;
  throw badField(name, `${name} has ${quoted(wrong)}: give a string, or a list of strings`);
}
