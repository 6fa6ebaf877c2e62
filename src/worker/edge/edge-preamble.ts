import type { EdgeIdentity } from './edge-contract.js';

/** "SPE1", read as little endian. */
const PREAMBLE_MAGIC = 0x31455053;
const PREAMBLE_VERSION = 1;
/** Magic u32, version u16, length u16, run id u64, generation u32, reserved u32, edge id u64, producer's node id u64. */
export const PREAMBLE_BYTES = 40;

export type DecodedPreamble =
  | { readonly kind: 'preamble'; readonly edge: EdgeIdentity }
  | { readonly kind: 'malformed'; readonly problem: string };

/** What a producer writes first. The consumer writes the same bytes back once it has taken the producer. */
export function encodePreamble({ runId, generation, edgeId, producerNodeId }: EdgeIdentity): Buffer {
  const bytes = Buffer.alloc(PREAMBLE_BYTES);
  bytes.writeUInt32LE(PREAMBLE_MAGIC, 0);
  bytes.writeUInt16LE(PREAMBLE_VERSION, 4);
  bytes.writeUInt16LE(PREAMBLE_BYTES, 6);
  bytes.writeBigUInt64LE(runId, 8);
  bytes.writeUInt32LE(generation, 16);
  bytes.writeBigUInt64LE(edgeId, 24);
  bytes.writeBigUInt64LE(producerNodeId, 32);
  return bytes;
}

/** Reads 40 bytes; also what a gateway needs to know where a stream belongs. */
export function decodePreamble(bytes: Buffer): DecodedPreamble {
  const malformed = (problem: string): DecodedPreamble => ({ kind: 'malformed', problem });
  if (bytes.readUInt32LE(0) !== PREAMBLE_MAGIC) return malformed('does not begin with the preamble of an edge');
  const version = bytes.readUInt16LE(4);
  if (version !== PREAMBLE_VERSION || bytes.readUInt16LE(6) !== PREAMBLE_BYTES || bytes.readUInt32LE(20) !== 0) {
    return malformed(`has a preamble of version ${version}, this end speaks ${PREAMBLE_VERSION}`);
  }
  const edge = {
    runId: bytes.readBigUInt64LE(8),
    generation: bytes.readUInt32LE(16),
    edgeId: bytes.readBigUInt64LE(24),
    producerNodeId: bytes.readBigUInt64LE(32),
  };
  return { kind: 'preamble', edge };
}

/** The first thing in which a preamble differs from what this end was provisioned for (I3, I6). */
export function foreignPart(found: EdgeIdentity, expected: EdgeIdentity): string | undefined {
  const parts = [
    ['run', found.runId, expected.runId],
    ['generation', found.generation, expected.generation],
    ['edge', found.edgeId, expected.edgeId],
    ['producer node', found.producerNodeId, expected.producerNodeId],
  ] as const;
  const foreign = parts.find(([, own, wanted]) => own !== wanted);
  return foreign && `is of ${foreign[0]} ${foreign[1]}, this end was provisioned for ${foreign[2]}`;
}

/** "edge 2 of run 7", for sentences. */
export function edgeName({ edgeId, runId }: EdgeIdentity): string {
  return `edge ${edgeId} of run ${runId}`;
}
