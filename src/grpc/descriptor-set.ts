import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFileRegistry, type DescMethod, type FileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { packageRoot } from '../package-root.js';

export interface DescriptorSet {
  /** Each proto file as a serialised `FileDescriptorProto`. */
  readonly files: readonly Uint8Array[];
  readonly registry: FileRegistry;
}

let loaded: DescriptorSet | undefined;

/** Everything that the proto files say, as `buf build` wrote it to gen/descriptor.binpb. Read once. */
export function descriptorSet(): DescriptorSet {
  loaded ??= readDescriptorSet(readFileSync(join(packageRoot(), 'gen', 'descriptor.binpb')));
  return loaded;
}

/** @param path such as `/stageplane.v1.OrchestratorService/GetRun` */
export function describedMethod(path: string): DescMethod {
  const [, service = '', name] = path.split('/');
  const method = descriptorSet()
    .registry.getService(service)
    ?.methods.find((one) => one.name === name);
  if (method === undefined) throw new Error(`${path} is no method of the descriptor set; run npm run gen`);
  return method;
}

/** Reads a serialised `FileDescriptorSet`. Throws when the bytes are none. */
function readDescriptorSet(bytes: Uint8Array): DescriptorSet {
  const set = fromBinary(FileDescriptorSetSchema, bytes);
  return {
    files: set.file.map((file) => toBinary(FileDescriptorProtoSchema, file)),
    registry: createFileRegistry(set),
  };
}
