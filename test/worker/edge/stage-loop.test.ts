import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { StageFaultReason, type StageUsage } from '../../../gen/stageplane/v1/run.js';
import {
  HEADER_BYTES,
  type ObjectRecord,
  objectFlags,
  type StageObject,
} from '../../../src/worker/edge/object-record.js';
import { type AnswerSampling, GREEDY } from '../../../src/worker/engine/sampling.js';
import type { StepOutput } from '../../../src/worker/engine/stage-layers.js';
import type { NextRows, RunOutcome } from '../../../src/worker/engine/stage-sessions.js';
import { failure, OK, type StructuredStatus } from '../../../src/worker/engine/status.js';
import { decodeSampling, encodeSampling } from '../../../src/worker/sampling-object.js';
import type { WorkerFault } from '../../../src/worker/stage-fault.js';
import { type LoopEngine, StageLoop } from '../../../src/worker/stage-loop.js';
import { tokenBytes } from './token-endpoint.js';

const { MORE, RELEASE, CANCEL, TRUNCATE, SAMPLING } = objectFlags;

/** Of the only stage its token, which is the position; of another its rows. */
function outputOf({ position }: NextRows): StepOutput {
  if (loop.stage.isTail) return { kind: 'token', tokenId: position };
  return { kind: 'rows', values: Float32Array.of(position) };
}

/** What a loop did, in words. */
let did: string[];
let faults: WorkerFault[];
let sent: StageObject[];
/** Payload bytes that the outbound ring can take. */
let room: number;
let usage: StageUsage | undefined;
/** Ends the step that the engine is at. */
let finishStep: (status?: StructuredStatus) => void;
let truncateStatus: StructuredStatus;

/** An engine that answers when the test says so; its token is the position. */
const engine: LoopEngine = {
  runNext: step,
  cancel(session, options) {
    did.push(`cancel ${session} step ${options?.workId}`);
    return OK;
  },
  release(session) {
    did.push(`release ${session}`);
    return OK;
  },
  truncate(session, position) {
    did.push(`truncate ${session} to ${position}`);
    return truncateStatus;
  },
  sample(session, sampling) {
    did.push(`sample ${session} with ${sampling === undefined ? 'the plan' : sampling.settings.topK}`);
  },
};

function step(next: NextRows): Promise<RunOutcome> {
  did.push(`run ${next.sessionId} at ${next.position}`);
  return new Promise((resolve) => {
    finishStep = (status = OK) => {
      resolve(status.code === 'OK' ? { kind: 'done', output: outputOf(next) } : { kind: 'failed', status });
    };
  });
}

let loop: StageLoop;
beforeEach(() => {
  did = [];
  faults = [];
  sent = [];
  room = Number.POSITIVE_INFINITY;
  truncateStatus = OK;
  loop = startLoop({ isTail: true });
});

/** The first stage of a model: token ids come in. Of the only stage, tokens go out. */
function startLoop({ isTail }: { isTail: boolean }): StageLoop {
  const started = new StageLoop(
    { generation: 1, layerStart: 0, isTail, hiddenDim: 1 },
    {
      taken: ({ session, sequence }) => did.push(`taken ${session}/${sequence}`),
      hasRoom: (bytes) => bytes <= room,
      send: (object) => {
        sent.push(object);
        did.push(`send ${object.session} flags ${object.flags}`);
      },
      fault: (fault) => faults.push(fault),
      busy: (isBusy) => did.push(isBusy ? 'busy' : 'idle'),
      holds: (now) => {
        usage = now;
      },
    },
  );
  started.start(engine);
  return started;
}

const sequences = new Map<bigint, number>();
beforeEach(() => sequences.clear());

function accept(session: bigint, flags: number, payload: Buffer = Buffer.alloc(0)): ObjectRecord {
  const sequence = sequences.get(session) ?? 0;
  sequences.set(session, sequence + 1);
  const object = { session, sequence, flags, payload };
  loop.accept(object);
  return object;
}

/** Everything that follows from what happened: the loop lets the event loop turn once between two objects. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}

function steps(): string[] {
  return did.filter((what) => what.startsWith('run'));
}

/** Ends the step that the loop is at, or comes to. */
async function finish(status?: StructuredStatus): Promise<void> {
  await settled();
  finishStep(status);
  await settled();
}

test('a prompt in pieces gives one token, and the engine is busy only in its steps', async () => {
  accept(1n, MORE, tokenBytes([1, 2]));
  accept(1n, 0, tokenBytes([3]));
  await settled();
  expect(did).toEqual(['taken 1/0', 'busy', 'run 1 at 0']);
  await finish();
  expect(sent).toEqual([]);
  await finish();
  expect(did.slice(3)).toEqual(['idle', 'taken 1/1', 'busy', 'run 1 at 2', 'idle', 'send 1 flags 0']);
  expect(sent[0]!.payload).toEqual(tokenBytes([2]));
});

const sampling: AnswerSampling = {
  settings: { ...GREEDY, temperatureMillis: 700, topK: 40, presencePenaltyMillis: -1500, seed: 2n ** 64n - 7n },
  position: 3,
  promptTail: [1, 2, 3],
};

test('a SAMPLING is for the last stage, before the rows that it is about, and undone by an empty one', async () => {
  accept(1n, SAMPLING, Buffer.from(encodeSampling(sampling)));
  accept(1n, 0, tokenBytes([1]));
  accept(1n, SAMPLING);
  await finish();
  expect(did).toEqual([
    'taken 1/0',
    'sample 1 with 40',
    'taken 1/1',
    'busy',
    'run 1 at 0',
    'idle',
    'send 1 flags 0',
    'taken 1/2',
    'sample 1 with the plan',
  ]);
  expect(decodeSampling(encodeSampling(sampling))).toEqual({ kind: 'read', sampling });
});

test('a SAMPLING costs nothing, and does not wait behind pieces of others', async () => {
  accept(1n, 0, tokenBytes([1, 2]));
  accept(2n, MORE, tokenBytes([1, 2]));
  accept(3n, SAMPLING, Buffer.from(encodeSampling(sampling)));
  await finish();
  expect(did.filter((what) => /^(run|sample)/.test(what))).toEqual(['sample 3 with 40', 'run 1 at 0', 'run 2 at 0']);
});

test('a stage between passes a SAMPLING on, also one that it would not understand', async () => {
  loop = startLoop({ isTail: false });
  const objects = [accept(1n, SAMPLING, tokenBytes([99, 1])), accept(1n, SAMPLING)];
  await settled();
  expect(did).toEqual(['taken 1/0', 'send 1 flags 32', 'taken 1/1', 'send 1 flags 32']);
  expect(sent).toEqual(objects);
});

test.each([
  ['of another version', tokenBytes([99, 1])],
  ['ends after 3 words', tokenBytes([12, 1, 1])],
  ['top_p_millis is 1001', encodeSampling({ ...sampling, settings: { ...GREEDY, topPMillis: 1001 } })],
])(
  'a SAMPLING that is wrong is a fault of the last stage, which would sample otherwise: %s',
  async (words, payload) => {
    accept(1n, SAMPLING, Buffer.from(payload));
    await settled();
    expect(faults).toEqual([
      { reason: StageFaultReason.STAGE_FAULT_REASON_EDGE_PROTOCOL, message: expect.stringContaining(words) },
    ]);
    expect(did).toEqual(['taken 1/0']);
  },
);

test('one step runs at a time, and a decode goes before the pieces that wait', async () => {
  accept(1n, 0, tokenBytes([1, 2]));
  await finish();
  accept(2n, MORE, tokenBytes([1, 2]));
  await settled();
  accept(2n, MORE, tokenBytes([3, 4]));
  accept(1n, 0, tokenBytes([7]));
  await finish();
  await finish();
  expect(steps()).toEqual(['run 1 at 0', 'run 2 at 0', 'run 1 at 2', 'run 2 at 2']);
});

test('a decode that comes right behind a piece goes before it', async () => {
  accept(1n, 0, tokenBytes([1, 2]));
  await finish();
  accept(2n, MORE, tokenBytes([1, 2]));
  accept(1n, 0, tokenBytes([7]));
  await finish();
  await finish();
  expect(steps()).toEqual(['run 1 at 0', 'run 1 at 2', 'run 2 at 0']);
});

describe('at a stage that others follow', () => {
  beforeEach(async () => {
    loop = startLoop({ isTail: false });
    for (const session of [1n, 2n]) {
      accept(session, 0, tokenBytes([1, 2]));
      await finish();
    }
    did = [];
    sent = [];
    accept(3n, MORE, tokenBytes([1, 2]));
    await settled();
  });

  test('the rows of a piece are sent behind those of the decodes that came while it ran', async () => {
    accept(1n, 0, tokenBytes([7]));
    accept(2n, 0, tokenBytes([8]));
    accept(3n, 0, tokenBytes([3]));
    await finish();
    expect(sent).toEqual([]);
    for (const _ of [1, 2, 3]) await finish();
    expect(steps()).toEqual(['run 3 at 0', 'run 1 at 2', 'run 2 at 2', 'run 3 at 2']);
    expect(sent.map(({ session }) => session)).toEqual([1n, 2n, 3n, 3n]);
  });

  test('they do not wait for the last row of their own prompt, or where there is room for them alone', async () => {
    accept(3n, 0, tokenBytes([3]));
    await finish();
    expect(sent.map(({ session }) => session)).toEqual([3n]);
    await finish();
    accept(3n, MORE, tokenBytes([4, 5]));
    await settled();
    accept(1n, 0, tokenBytes([7]));
    room = 2 * 4 + HEADER_BYTES;
    await finish();
    expect(sent.map(({ session }) => session)).toEqual([3n, 3n, 3n]);
  });

  test('a cancel that comes while they wait takes them with it', async () => {
    accept(1n, 0, tokenBytes([7]));
    await finish();
    accept(3n, CANCEL);
    await finish();
    expect(sent.map(({ session, flags }) => [session, flags])).toEqual([
      [1n, 0],
      [3n, CANCEL],
    ]);
    accept(3n, TRUNCATE, tokenBytes([5]));
    await settled();
    expect(sent.at(-1)!.payload).toEqual(tokenBytes([2]));
  });
});

test('a cancel drops what waits, ends what runs without a trace, and is confirmed behind it', async () => {
  accept(1n, MORE, tokenBytes([1, 2]));
  accept(1n, 0, tokenBytes([3]));
  await settled();
  accept(1n, CANCEL);
  expect(did.slice(3)).toEqual(['taken 1/1', 'cancel 1 step 0']);
  await finish(failure('CANCELLED', 'step 0 was cancelled'));
  expect(did.slice(5)).toEqual(['idle', 'taken 1/2', 'send 1 flags 4']);
  accept(1n, TRUNCATE, tokenBytes([2]));
  await settled();
  expect(sent.at(-1)!.payload).toEqual(tokenBytes([0]));
  accept(1n, TRUNCATE, tokenBytes([0]));
  accept(1n, 0, tokenBytes([9]));
  await settled();
  expect(did.slice(-3)).toEqual(['taken 1/5', 'busy', 'run 1 at 0']);
  expect(faults).toEqual([]);
});

test('a step that was done before its cancel counts as held, and its result is not sent', async () => {
  accept(1n, 0, tokenBytes([1, 2]));
  await settled();
  accept(1n, CANCEL);
  await finish();
  accept(1n, TRUNCATE, tokenBytes([5]));
  await settled();
  expect(sent.map(({ flags }) => flags)).toEqual([CANCEL, TRUNCATE]);
  expect(sent[1]!.payload).toEqual(tokenBytes([2]));
});

test('a session that cannot go back says 0, and takes nothing until it was told 0', async () => {
  accept(1n, 0, tokenBytes([1, 2]));
  await finish();
  truncateStatus = failure('CACHE_MISS', 'recurrent');
  accept(1n, TRUNCATE, tokenBytes([1]));
  await settled();
  expect(did.slice(-3)).toEqual(['truncate 1 to 1', 'release 1', 'send 1 flags 16']);
  expect(sent.at(-1)!.payload).toEqual(tokenBytes([0]));
  accept(1n, 0, tokenBytes([2]));
  await settled();
  expect(faults[0]).toMatchObject({
    reason: StageFaultReason.STAGE_FAULT_REASON_EDGE_PROTOCOL,
    message: expect.stringContaining('TRUNCATE that fell short'),
  });
});

test('a release goes on, and so does one that comes with the last row', async () => {
  accept(1n, 0, tokenBytes([1, 2]));
  accept(1n, RELEASE);
  await finish();
  expect(did.slice(-4)).toEqual(['send 1 flags 0', 'taken 1/1', 'release 1', 'send 1 flags 2']);
  accept(2n, RELEASE, tokenBytes([1, 2]));
  await settled();
  await finish();
  expect(did.slice(-2)).toEqual(['release 2', 'send 2 flags 2']);
  expect(sent.at(-1)!.payload.byteLength).toBe(4);
});

test('says what it holds: rows that are done, less what was cut off or released', async () => {
  accept(1n, MORE, tokenBytes([1, 2]));
  await finish();
  accept(2n, 0, tokenBytes([1, 2, 3]));
  await finish();
  expect(usage).toEqual({ heldSessions: 2, heldTokens: 5n });
  accept(1n, TRUNCATE, tokenBytes([1]));
  await settled();
  expect(usage).toEqual({ heldSessions: 2, heldTokens: 4n });
  accept(2n, CANCEL);
  accept(2n, RELEASE);
  await settled();
  expect(usage).toEqual({ heldSessions: 1, heldTokens: 1n });
});

test('without room for the result nothing is begun, and nothing is lost', async () => {
  room = 3;
  accept(1n, 0, tokenBytes([1, 2]));
  expect(did).toEqual([]);
  room = 4;
  loop.wake();
  await finish();
  expect(sent).toHaveLength(1);
});

test.each<[StructuredStatus, StageFaultReason, string]>([
  [failure('RESOURCE_EXHAUSTED', 'all sessions are taken'), StageFaultReason.STAGE_FAULT_REASON_EDGE_PROTOCOL, 'taken'],
  [failure('INTERNAL', 'a kernel failed'), StageFaultReason.STAGE_FAULT_REASON_INTERNAL, 'kernel failed; report it as'],
])('a step that ends in %j ends the stage', async (status, reason, sentence) => {
  accept(1n, 0, tokenBytes([1, 2]));
  accept(2n, 0, tokenBytes([1, 2]));
  await finish(status);
  expect(faults).toEqual([{ reason, message: expect.stringContaining(sentence) }]);
  expect(did.at(-1)).toBe('idle');
  expect(sent).toEqual([]);
});
