import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Random } from '../sim/random.js';
import { hostileNumbers } from './mutate-bytes.js';

const texts = ['', 'a', 'node-a', 'é', '\0', '__proto__', '../../etc/passwd', 'x'.repeat(5000), '127.0.0.1:1'];
const DEEPEST = 6;

/** The bytes of a message of this type: fields right, repeated, of a wrong type, unknown, or of enums that nobody knows. */
export function randomMessage(type: DescMessage, random: Random, depth = 0): Uint8Array {
  const writer = new BinaryWriter();
  for (const field of type.fields) {
    const times = timesOf(field, random, depth);
    for (let time = 0; time < times; time++) writeField(writer, field, random, depth);
  }
  if (random.chance(0.05)) writeUnknown(writer, random);
  return writer.finish();
}

/** The bytes of a message of which nothing is known but that it has texts. */
export function randomTexts(random: Random): Uint8Array {
  const writer = new BinaryWriter();
  const known = ['stageplane.v1.NodeAgentService', 'stageplane/v1/run.proto'];
  for (let field = random.int(0, 3); field > 0; field--) {
    writer.tag(random.int(1, 8), WireType.LengthDelimited).string(random.pick([...texts, ...known]));
  }
  if (random.chance(0.05)) writeUnknown(writer, random);
  return writer.finish();
}

/** Fewer the deeper it is: lists within lists would grow without end. */
function timesOf(field: DescField, random: Random, depth: number): number {
  if (random.chance(0.3 + 0.1 * depth)) return 0;
  if (depth === 0 && random.chance(0.02)) return 50;
  return field.fieldKind === 'list' && depth < 3 ? random.int(0, 2) : 1;
}

function writeField(writer: BinaryWriter, field: DescField, random: Random, depth: number): void {
  if (random.chance(0.01)) {
    writer.tag(field.number, WireType.Varint).uint64(random.int(0, 9));
    return;
  }
  if (field.message !== undefined && field.fieldKind !== 'map') {
    if (depth === DEEPEST) return;
    writer.tag(field.number, WireType.LengthDelimited).bytes(randomMessage(field.message, random, depth + 1));
  } else if (field.fieldKind === 'map' || isText(field.scalar)) {
    writer.tag(field.number, WireType.LengthDelimited);
    if (field.fieldKind === 'map') writer.bytes(new BinaryWriter().tag(1, 2).string(random.pick(texts)).finish());
    else writer.string(random.pick(texts));
  } else {
    writer.tag(field.number, WireType.Varint);
    if (field.enum !== undefined) writer.int32(random.chance(0.9) ? random.int(0, 4) : random.pick([-1, 2 ** 31 - 1]));
    else writer.uint64(random.chance(0.7) ? random.int(0, 4) : BigInt.asUintN(64, random.pick(hostileNumbers)));
  }
}

function isText(scalar: ScalarType | undefined): boolean {
  return scalar === ScalarType.STRING || scalar === ScalarType.BYTES;
}

/** Groups within groups, or messages within messages, that no proto file has. */
function writeUnknown(writer: BinaryWriter, random: Random): void {
  const depth = random.pick([1, 50, 20_000]);
  for (let level = 0; level < depth; level++) writer.tag(999, WireType.StartGroup);
  for (let level = 0; level < depth; level++) if (random.chance(0.9999)) writer.tag(999, WireType.EndGroup);
}
