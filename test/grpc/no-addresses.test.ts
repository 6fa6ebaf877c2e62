import { create, createFileRegistry, type DescMessage } from '@bufbuild/protobuf';
import {
  type FieldDescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { descriptorSet } from '../../src/grpc/descriptor-set.js';
import { addressFields } from './address-fields.js';

test('nothing that an agent is sent has room for an address', () => {
  const root = descriptorSet().registry.getMessage('stageplane.v1.SubscribeResponse');
  expect(addressFields(root!)).toEqual([]);
});

type Field = Pick<FieldDescriptorProto, 'name' | 'type'> & { typeName?: string; repeated?: boolean; oneof?: boolean };

/** The planted message `Root`, whose field `nested` leads to `Leaf` with the given field. */
function planted(nested: Omit<Field, 'name' | 'type'>, leaf: Field): DescMessage {
  const field = (number: number, { name, type, typeName = '', repeated, oneof }: Field) => ({
    name,
    number,
    type,
    typeName,
    label: repeated ? FieldDescriptorProto_Label.REPEATED : FieldDescriptorProto_Label.OPTIONAL,
    ...(oneof ? { oneofIndex: 0 } : {}),
  });
  const entry = {
    name: 'NestedEntry',
    field: [
      field(1, { name: 'key', type: FieldDescriptorProto_Type.STRING }),
      field(2, { name: 'value', type: FieldDescriptorProto_Type.MESSAGE, typeName: '.t.Leaf' }),
    ],
    options: { mapEntry: true },
  };
  const set = create(FileDescriptorSetSchema, {
    file: [
      {
        name: 't.proto',
        package: 't',
        syntax: 'proto3',
        enumType: [{ name: 'E', value: [{ name: 'E_UNSPECIFIED', number: 0 }] }],
        messageType: [
          {
            name: 'Root',
            nestedType: nested.typeName === '.t.Root.NestedEntry' ? [entry] : [],
            oneofDecl: nested.oneof ? [{ name: 'o' }] : [],
            field: [
              field(1, { name: 'nested', type: FieldDescriptorProto_Type.MESSAGE, typeName: '.t.Leaf', ...nested }),
            ],
          },
          { name: 'Leaf', field: [field(1, leaf)] },
        ],
      },
    ],
  });
  return createFileRegistry(set).getMessage('t.Root')!;
}

const text = FieldDescriptorProto_Type.STRING;
const number = FieldDescriptorProto_Type.UINT32;

test.each([
  ['in a message', {}, { name: 'consumer_host', type: text }],
  ['in a list', { repeated: true }, { name: 'port', type: number }],
  ['in a oneof', { oneof: true }, { name: 'edge_url', type: text }],
  ['in a map', { typeName: '.t.Root.NestedEntry', repeated: true }, { name: 'actor_address', type: text }],
])('an address that is planted %s is found', (_where, nested, leaf) => {
  expect(addressFields(planted(nested, leaf))).toEqual([`t.Leaf.${leaf.name}`]);
});

test('an enum about hosts, and a name that only contains a word, are no addresses', () => {
  const pinning = { name: 'host_pinning', type: FieldDescriptorProto_Type.ENUM, typeName: '.t.E' };
  expect(addressFields(planted({}, pinning))).toEqual([]);
  expect(addressFields(planted({}, { name: 'report_id', type: number }))).toEqual([]);
  expect(addressFields(planted({}, { name: 'host_bytes', type: number }))).toEqual([]);
});
