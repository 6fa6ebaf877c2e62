import type { Random } from '../sim/random.js';

/** A value as text, for it may be no JSON, or JSON that no object can hold. */
const hostileValues = [
  ...['null', 'true', '{}', '[]', '""', '-1', '1.5', '1e400', '-0', '4294967296', '"NaN"', '"0x10"', '" 7 "', '"1e3"'],
  ...['18446744073709551615', '"18446744073709551616"', '"-1"', '"-9223372036854775809"', '"\\ud800"', '"\\u0000"'],
  ...[
    '"NO_SUCH_NAME"',
    '9999',
    '2147483648',
    '{"__proto__":{"polluted":1}}',
    '[[[]]]',
    '{"$case":"stop"}',
    'NaN',
    "'a'",
  ],
];
const hostileKeys = ['__proto__', 'constructor', 'toString', '$case', 'hasOwnProperty', 'value', 'length', 'toJSON'];

/** Another text of about the same JSON: some value, key or nesting is not what an honest writer has there. */
export function mutateJsonLine(line: string, random: Random): string {
  const places = [...line.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*|true|false|null/g)];
  if (places.length === 0) return random.pick(hostileValues);
  const { 0: token, index } = random.pick(places);
  const [before, after] = [line.slice(0, index), line.slice(index + token.length)];
  const isKey = after.startsWith(':');
  if (isKey) return `${before}${changedKey(token, after, random)}${after}`;
  return `${before}${changedValue(token, random)}${after}`;
}

function changedKey(key: string, after: string, random: Random): string {
  switch (random.int(0, 3)) {
    case 0:
      return `"${random.pick(hostileKeys)}"`;
    case 1:
      // A second time, with another value first.
      return `${key}:${random.pick(hostileValues)},${key}`;
    case 2:
      return `"${random.pick(hostileKeys)}":${random.pick(hostileValues)},${key}`;
    default:
      return after.length > 2 ? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : key;
  }
}

function changedValue(value: string, random: Random): string {
  switch (random.int(0, 5)) {
    case 0:
      return nested(value, random.pick([1, 2, 30, 3000, 20_000]), random);
    case 1:
      return `"${'9'.repeat(random.pick([19, 20, 21, 400, 60_000]))}"`;
    case 2:
      return '9'.repeat(random.pick([10, 16, 20, 400, 60_000]));
    case 3:
      return `"${random.pick(['é', '\u2028', '\\n', '\u0007', 'x'.repeat(70_000), '\\ud83d'])}${value.replaceAll('"', '')}"`;
    default:
      return random.pick(hostileValues);
  }
}

function nested(value: string, depth: number, random: Random): string {
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const);
  return `${open.repeat(depth)}${value}${close.repeat(depth)}`;
}
