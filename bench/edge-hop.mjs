// What a hop between two stages costs, without any layers: objects of one token of hidden 8192 in f32 go round through
// real processes, one in flight, and each process sends on what it gets.
//
//   npm run build && node bench/edge-hop.mjs [bytes]
//   npm run build && node bench/edge-hop.mjs gateways [bytes]
//
// "gateways" measures what mutual TLS costs: two gateways, each in its own process, between a producer and a consumer, over TCP
// on loopback, plain and secured in turns: the time of one object, and the rate of objects that follow each other.
//
// "bare" is what node:net itself takes for as many bytes; "edges" is our transport alone; "stage loop" adds the queue, the step and its result, around an engine that echoes.
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EdgeDialer } from '../dist/src/worker/edge/edge-dialer.js';
import { listenForEdge } from '../dist/src/worker/edge/edge-listener.js';
import { StageLoop } from '../dist/src/worker/stage-loop.js';

const ROUNDS = 7;
const SLICE_MILLIS = 400;
const GOAL_MICROS = 80;
const MODES = ['bare', 'edges', 'stage loop'];
/** Gives each row back, as an engine gives its rows. */
const echoEngine = { runNext: ({ input }) => ({ kind: 'done', output: input }) };

if (process.argv[2] === 'echo') await echo(...process.argv.slice(3));
else if (process.argv[2] === 'gateways') {
  const { measureGateways } = await import('./gateway-hop.mjs');
  await measureGateways(Number(process.argv[3] ?? 32 * 1024));
  process.exit();
} else {
  await measure(Number(process.argv[2] ?? 32 * 1024));
  process.exit();
}

async function measure(bytes) {
  const folder = mkdtempSync(join(tmpdir(), 'edge-hop-'));
  try {
    const subjects = [];
    for (const mode of MODES) {
      for (const processes of [1, 3])
        subjects.push({ mode, processes, rates: [], ...(await chain(folder, mode, processes, bytes)) });
    }
    // In turns, so that whatever else the machine has to do meets all of them alike; the first round only warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const subject of subjects) {
        const micros = await microsPerRound(subject.once);
        if (round > 0) subject.rates.push(micros);
      }
    }
    console.log(
      `${bytes} bytes an object, one in flight, best and median of ${ROUNDS}; the goal is ${GOAL_MICROS} µs a hop`,
    );
    for (const subject of subjects) report(subject);
    for (const subject of subjects) subject.end();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function report({ mode, processes, rates }) {
  const hops = processes + 1;
  const sorted = rates.toSorted((a, b) => a - b);
  const [best, median] = [sorted[0], sorted[Math.floor(sorted.length / 2)]].map((micros) => (micros / hops).toFixed(0));
  console.log(`${mode.padEnd(11)} ${processes + 1} processes, ${hops} hops: ${best} µs a hop, median ${median}`);
}

async function microsPerRound(once) {
  const begin = performance.now();
  let rounds = 0;
  let elapsed = 0;
  for (; elapsed < SLICE_MILLIS; elapsed = performance.now() - begin) {
    await once();
    rounds++;
  }
  return (elapsed * 1000) / rounds;
}

/** This process is both ends of a chain of echoing ones. */
async function chain(folder, mode, processes, bytes) {
  const path = (edge) => join(folder, `${mode[0]}${processes}-${edge}`);
  const children = Array.from({ length: processes }, (_, index) =>
    fork(fileURLToPath(import.meta.url), ['echo', mode, path(index), path(index + 1), String(bytes)]),
  );
  let arrived = () => {};
  const open = mode === 'bare' ? bareEnds : ends;
  const { dialer, connected } = await open(path(processes), path(0), bytes, () => arrived());
  await connected;
  const payload = Buffer.alloc(bytes);
  const once = () =>
    new Promise((resolve) => {
      arrived = resolve;
      dialer.send({ session: 1n, flags: 0, payload });
    });
  return {
    once,
    end: () => {
      for (const child of children) child.kill();
    },
  };
}

async function echo(mode, inbound, outbound, bytesText) {
  const bytes = Number(bytesText);
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
  const { listener } = await listenForEdge(inbound, contract, {
    onReady: ready,
    onObject: (object) => {
      listener.taken(object);
      onObject(object);
    },
    onFault,
    onNote: () => {},
  });
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
