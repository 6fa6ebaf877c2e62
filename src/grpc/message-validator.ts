import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescOneof,
  type FileRegistry,
  ScalarType,
} from '@bufbuild/protobuf';
import { limits } from '../core/limits.js';
import { descriptorSet } from './descriptor-set.js';
import { type FieldRule, fieldRules } from './field-rules.js';
import type { FieldViolation } from './field-violation.js';
import {
  both,
  bytesCheck,
  type Check,
  enumCheck,
  inside,
  listCheck,
  mapCheck,
  NOTHING,
  stringCheck,
  timestampCheck,
  violation,
} from './value-checks.js';

type Message = Readonly<Record<string, unknown>>;
type OneofValue = { readonly $case: string; readonly value: unknown };

export interface ValidatorSource {
  readonly registry: FileRegistry;
  readonly rules: Readonly<Record<string, FieldRule>>;
}

/**
 * Makes the edge check of one message type out of its descriptor and `fieldRules`: unknown enum numbers, sizes, what is
 * required, invalid times, at every depth. Meant to be made once at the start and kept; parts with nothing to check are
 * left out, and a good message costs no allocation.
 *
 * @param typeName full name, such as `stageplane.v1.PlanRunRequest`; throws when there is no such message
 * @returns gives at most `limits.violationsPerRejection` violations, none for a good message
 */
export function createMessageValidator(
  typeName: string,
  source: ValidatorSource = {
    registry: descriptorSet().registry,
    rules: fieldRules,
  },
): (message: object) => readonly FieldViolation[] {
  const message = source.registry.getMessage(typeName);
  if (message === undefined) throw new Error(`${typeName} is no message of the descriptor set; run npm run gen`);
  const check = new Compiler(source.rules).message(message);
  return (value) => check?.(value) ?? NOTHING;
}

/** Turns descriptors into checks; undefined means that there is nothing to check. */
class Compiler {
  private readonly messages = new Map<string, { check?: Check | undefined }>();

  constructor(private readonly rules: Readonly<Record<string, FieldRule>>) {}

  message(type: DescMessage): Check | undefined {
    if (type.typeName === 'google.protobuf.Timestamp') return timestampCheck() as Check;
    const seen = this.messages.get(type.typeName);
    if (seen !== undefined) {
      // Still being compiled when a message contains itself: looked up when it is called.
      return 'check' in seen ? seen.check : (value) => seen.check?.(value) ?? NOTHING;
    }
    const entry: { check?: Check | undefined } = {};
    this.messages.set(type.typeName, entry);
    const members = type.members
      .map((member) => (member.kind === 'oneof' ? this.oneof(member) : this.field(member)))
      .filter((check) => check !== undefined);
    entry.check = members.length === 0 ? undefined : (value) => checkMembers(members, value as Message);
    return entry.check;
  }

  private field(field: DescField): Check<Message> | undefined {
    const rule = this.ruleOf(field.parent.typeName, field.name);
    const check = this.value(field, rule);
    if (check === undefined && !rule.required) return undefined;
    const { name, localName } = field;
    return (message) => {
      const value = message[localName];
      if (rule.required && isUnset(value)) return inside(name, violation('must be set'));
      return value === undefined || check === undefined ? NOTHING : inside(name, check(value));
    };
  }

  private oneof(oneof: DescOneof): Check<Message> | undefined {
    const rule = this.ruleOf(oneof.parent.typeName, oneof.name);
    const cases = new Map<string, Check>();
    for (const field of oneof.fields) {
      const check = this.value(field, this.ruleOf(field.parent.typeName, field.name));
      if (check) cases.set(field.localName, (value) => inside(field.name, check(value)));
    }
    if (cases.size === 0 && !rule.required) return undefined;
    const names = oneof.fields.map((field) => field.name).join(', ');
    return (message) => {
      const set = message[oneof.localName] as OneofValue | undefined;
      if (set !== undefined) return cases.get(set.$case)?.(set.value) ?? NOTHING;
      return rule.required ? inside(oneof.name, violation(`must be set; to one of ${names}`)) : NOTHING;
    };
  }

  private value(field: DescField, rule: FieldRule): Check | undefined {
    switch (field.fieldKind) {
      case 'list':
        return listCheck(this.entry(field.listKind, field, rule), rule) as Check;
      case 'map':
        return mapCheck(scalarCheck(field.mapKey, rule), this.entry(field.mapKind, field, rule), rule) as Check;
      default:
        return this.entry(field.fieldKind, field, rule);
    }
  }

  private entry(
    kind: 'scalar' | 'enum' | 'message',
    of: {
      scalar?: ScalarType | undefined;
      enum?: DescEnum | undefined;
      message?: DescMessage | undefined;
    },
    rule: FieldRule,
  ): Check | undefined {
    if (kind === 'scalar') return scalarCheck(of.scalar, rule);
    if (kind === 'enum') return of.enum && (enumCheck(of.enum) as Check);
    return of.message && this.message(of.message);
  }

  private ruleOf(typeName: string, name: string): FieldRule {
    return this.rules[`${typeName}.${name}`] ?? {};
  }
}

function checkMembers(members: readonly Check<Message>[], message: Message): readonly FieldViolation[] {
  let found = NOTHING;
  for (const check of members) {
    found = both(found, check(message));
    if (found.length >= limits.violationsPerRejection) break;
  }
  return found;
}

function scalarCheck(type: ScalarType | undefined, rule: FieldRule): Check | undefined {
  if (type === ScalarType.STRING) return stringCheck(rule) as Check;
  if (type === ScalarType.BYTES) return bytesCheck(rule) as Check;
  return undefined;
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === '' || value === 0 || (Array.isArray(value) && value.length === 0);
}
