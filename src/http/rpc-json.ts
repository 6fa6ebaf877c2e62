import { fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf';
import { type MethodDefinition, status } from '@grpc/grpc-js';
import { describedMethod, descriptorSet } from '../grpc/descriptor-set.js';
import { RpcError } from '../grpc/rpc-error.js';

// biome-ignore lint/suspicious/noExplicitAny: requests and responses of every method pass here.
type Any = any;

/** The messages of one method as JSON and back, by the mapping of protobuf: 64-bit integers are strings, enums are names. */
export interface RpcJson {
  /** Throws RpcError for what is no request; fields of a later version are ignored. */
  readRequest(json: JsonValue | undefined): Any;
  /** Every field without presence is there, also one that is empty. */
  writeResponse(response: Any): JsonValue;
}

export function rpcJson({ path, requestDeserialize, responseSerialize }: MethodDefinition<Any, Any>): RpcJson {
  const { registry } = descriptorSet();
  const method = describedMethod(path);
  return {
    readRequest: (json) => {
      if (json === undefined) throw malformed('there is no body: send a JSON object, such as {}');
      try {
        const message = fromJson(method.input, json, { ignoreUnknownFields: true, registry });
        return requestDeserialize(Buffer.from(toBinary(method.input, message)));
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw malformed(`the body is no ${method.input.name}: ${why}`);
      }
    },
    writeResponse: (response) =>
      toJson(method.output, fromBinary(method.output, responseSerialize(response)), {
        alwaysEmitImplicit: true,
        registry,
      }),
  };
}

function malformed(message: string): RpcError {
  return new RpcError(status.INVALID_ARGUMENT, 'MALFORMED_MESSAGE', message);
}
