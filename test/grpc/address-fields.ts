import type { DescField, DescMessage } from '@bufbuild/protobuf';

/** Words that a name of a host, network port, URL or actor address would have. */
const ADDRESS_WORDS = new Set(
  'host hosts hostname port ports url uri addr address addresses ip ipv4 ipv6 socket actor endpoint dial'.split(' '),
);

/** Names that have such a word and mean something else: a stage's ports are names, not network ports. */
const NOT_ADDRESSES = new Set([
  'stageplane.v1.StageRuntimeFacts.input_port',
  'stageplane.v1.StageRuntimeFacts.output_port',
]);

/** Paths of all fields below `root`, in nested messages, oneofs and maps too, that could carry an address. */
export function addressFields(root: DescMessage): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const visit = (message: DescMessage) => {
    if (seen.has(message.typeName)) return;
    seen.add(message.typeName);
    for (const field of message.fields) {
      if (namesAnAddress(field)) found.push(`${message.typeName}.${field.name}`);
      if (field.message) visit(field.message);
    }
  };
  visit(root);
  return found;
}

function namesAnAddress(field: DescField): boolean {
  // An enum has no room for an address, and a count of bytes is none: only text, bytes and numbers of 16 bits or more.
  if (field.enum !== undefined || NOT_ADDRESSES.has(`${field.parent.typeName}.${field.name}`)) return false;
  if (field.name.endsWith('_bytes')) return false;
  return field.name.split('_').some((word) => ADDRESS_WORDS.has(word));
}
