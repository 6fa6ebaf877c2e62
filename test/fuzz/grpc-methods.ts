import type { DescMessage } from '@bufbuild/protobuf';
import { descriptorSet } from '../../src/grpc/descriptor-set.js';

/** A method that strangers may call. */
export interface FuzzedMethod {
  readonly service: string;
  readonly name: string;
  /** Undefined when it belongs to a library, whose messages are texts. */
  readonly input: DescMessage | undefined;
  readonly asksOften: boolean;
  readonly answersOften: boolean;
}

export const pathOf = ({ service, name }: FuzzedMethod): string => `/${service}/${name}`;

const ours = [
  'stageplane.v1.OrchestratorService',
  'stageplane.v1.NodeAgentService',
  'stageplane.v1.AdminService',
  'stageplane.v1.EnrollmentService',
  'stageplane.v1.CertificateService',
];

/** It writes where it is told: nothing for random bytes. */
const left = 'Backup';

/** Inputs name them by their place: new ones come last. */
export const methods: readonly FuzzedMethod[] = [
  ...ours.flatMap((service) =>
    descriptorSet()
      .registry.getService(service)!
      .methods.filter(({ name }) => name !== left)
      .map(({ name, input, methodKind }) => ({
        service,
        name,
        input,
        asksOften: methodKind === 'bidi_streaming',
        answersOften: methodKind !== 'unary',
      })),
  ),
  ofLibrary('grpc.health.v1.Health', 'Check', false, false),
  ofLibrary('grpc.health.v1.Health', 'List', false, false),
  ofLibrary('grpc.health.v1.Health', 'Watch', false, true),
  ofLibrary('grpc.reflection.v1.ServerReflection', 'ServerReflectionInfo', true, true),
  ofLibrary('grpc.reflection.v1alpha.ServerReflection', 'ServerReflectionInfo', true, true),
];

function ofLibrary(service: string, name: string, asksOften: boolean, answersOften: boolean): FuzzedMethod {
  return { service, name, input: undefined, asksOften, answersOften };
}
