// Objects that go round through real processes, each of which sends on what it gets.
//
// "bare" is what node:net itself takes for as many bytes; "edges" is our transport alone; "stage loop" adds the queue, the
// step and its result, around an engine that echoes.
import { fork } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EdgeDialer } from '../dist/src/worker/edge/edge-dialer.js';
import { listenForEdge } from '../dist/src/worker/edge/edge-listener.js';
import { StageLoop } from '../dist/src/worker/stage-loop.js';

export const echoModes = ['bare', 'edges', 'stage loop'];
const program = fileURLToPath(import.meta.url);
/** Gives each row back, as an engine gives its rows; it is asked for nothing else. @type {any} */
const echoEngine = { runNext: ({ input }) => ({ kind: 'done', output: input }) };

if (process.argv[1] === program) await echo(process.argv[2], process.argv[3], process.argv[4], Number(process.argv[5]));

/** This process is both ends of a chain of echoing ones. */
export async function echoChain(folder, mode, processes, bytes) {
  const path = (edge) => join(folder, `${mode[0]}${processes}-${edge}`);
  const children = Array.from({ length: processes }, (_, index) =>
    fork(program, [mode, path(index), path(index + 1), String(bytes)]),
  );
  let arrived = () => {};
  const open = mode === 'bare' ? bareEnds : ends;
  const { dialer, connected } = await open(path(processes), path(0), bytes, () => arrived());
  await connected;
  const payload = Buffer.alloc(bytes);
  const once = () =>
    new Promise((resolve) => {
      arrived = () => resolve(undefined);
      dialer.send({ session: 1n, flags: 0, payload });
    });
  return {
    once,
    hops: processes + 1,
    end: () => {
      for (const child of children) child.kill();
    },
  };
}

async function echo(mode, inbound, outbound, bytes) {
  if (mode !== 'stage loop') {
    const open = mode === 'bare' ? bareEnds : ends;
    const { dialer } = await open(inbound, outbound, bytes, (object) => dialer.send(object));
    return;
  }
  const stage = { generation: 1, layerStart: 1, isTail: false, hiddenDim: bytes / 4 };
  const loop = new StageLoop(stage, {
    taken: () => {},
    hasRoom: (payloadBytes) => edge.dialer.hasRoom(payloadBytes),
    send: (object) => edge.dialer.send(object),
    fault: ({ message }) => console.error(message),
    busy: () => {},
    holds: () => {},
  });
  const edge = await ends(
    inbound,
    outbound,
    bytes,
    (object) => loop.accept(object),
    () => loop.wake(),
  );
  loop.start(echoEngine);
}

async function ends(inbound, outbound, bytes, onObject, onRoom = () => {}) {
  const contract = {
    runId: 1n,
    generation: 1,
    edgeId: 1n,
    producerNodeId: 1n,
    maxExtent: bytes,
    alignment: 4,
    capacity: 4 * bytes,
  };
  let ready;
  const bothReady = new Promise((resolve) => {
    let missing = 2;
    ready = () => --missing === 0 && resolve();
  });
  // The processes are killed one after the other.
  const onFault = () => {};
  const listening = await listenForEdge(inbound, contract, {
    onReady: ready,
    onObject: (object) => {
      listener.taken(object);
      onObject(object);
    },
    onFault,
    onNote: () => {},
  });
  if (listening.kind === 'refused') throw new Error(listening.fault.message);
  const { listener } = listening;
  const dialer = new EdgeDialer(outbound, contract, { onReady: ready, onRoom, onFault, onNote: () => {} });
  return { dialer, connected: bothReady };
}

/** The same with nothing but sockets: an object is so many bytes. */
async function bareEnds(inbound, outbound, bytes, onObject) {
  let filled = 0;
  createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      filled += chunk.length;
      if (filled < bytes) return;
      filled = 0;
      onObject({ payload });
    });
  }).listen(inbound);
  const payload = Buffer.alloc(bytes);
  for (;;) {
    const socket = connect(outbound);
    const isConnected = await new Promise((resolve) =>
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false)),
    );
    if (isConnected) return { dialer: { send: (object) => socket.write(object.payload) } };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
