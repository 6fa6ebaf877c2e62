import type { Server } from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import { descriptorSet } from './descriptor-set.js';
import { guardedServer } from './guarded-server.js';
import type { OpenStreams } from './open-streams.js';

/**
 * Adds server reflection, v1 and v1alpha, for `grpcurl` and `buf curl`.
 *
 * @param services full names that the server lists; default: every service of the proto files, grpc.health.v1 included
 */
export function addReflection(server: Server, streams: OpenStreams, services?: readonly string[]): void {
  // Fed through a proto loader, the library loses the dependencies between files and clients cannot resolve them; it
  // takes any package whose entries carry serialised file descriptors.
  const entry = {
    format: 'Protocol Buffer 3 EnumDescriptorProto' as const,
    type: {},
    fileDescriptorProtos: descriptorSet().files.map((file) => Buffer.from(file)),
  };
  const options = services === undefined ? {} : { services: [...services] };
  new ReflectionService({ entry }, options).addToServer(guardedServer(server, streams));
}
