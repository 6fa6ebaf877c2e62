import { expect, test } from 'vitest';
import { SubscribeResponse } from '../../gen/stageplane/v1/node_agent_service.js';
import { sharedWriterSerializer } from '../../src/grpc/shared-writer.js';

const ack = (sequence: bigint): SubscribeResponse => ({ message: { $case: 'heartbeatAck', value: { sequence } } });

test('messages do not leak into each other, not even after one that cannot be encoded', () => {
  const serialize = sharedWriterSerializer(SubscribeResponse);
  const first = serialize(ack(1n));
  expect(() => serialize(ack(-1n))).toThrow();
  const second = serialize(ack(2n));
  expect(SubscribeResponse.decode(first)).toEqual(ack(1n));
  expect(SubscribeResponse.decode(second)).toEqual(ack(2n));
  expect(second.equals(Buffer.from(SubscribeResponse.encode(ack(2n)).finish()))).toBe(true);
});
