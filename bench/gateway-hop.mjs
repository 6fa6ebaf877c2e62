// What mutual TLS costs between two gateways; `edge-hop.mjs gateways` runs it.
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEdgeGateway } from '../dist/src/edge-gateway/open-edge-gateway.js';
import { makeAuthority, readAuthority } from '../dist/src/pki/authority.js';
import { readRequest, requestCertificate } from '../dist/src/pki/certificate-request.js';
import { issueClient } from '../dist/src/pki/issue-client.js';
import { makeKeyPair } from '../dist/src/pki/key-pair.js';
import { serialNumber } from '../dist/src/pki/serial-number.js';
import { EdgeDialer } from '../dist/src/worker/edge/edge-dialer.js';
import { listenForEdge } from '../dist/src/worker/edge/edge-listener.js';
import { heading, inTurns, ratios, spread } from './figures.mjs';

const ROUNDS = 7;
const SLICE_MILLIS = 400;

if (process.argv[2] === 'gateway') await serveGateway();

/** @param {{ bytes?: number, rounds?: number }} options `bytes` are those of one object */
export async function measureGateways({ bytes = 32 * 1024, rounds = ROUNDS }) {
  heading(`hop: objects of ${bytes} bytes through two gateways, medians of ${rounds} rounds`);
  const folder = mkdtempSync(join(tmpdir(), 'gateway-hop-'));
  const edges = {};
  try {
    for (const mode of ['plain', 'mutual TLS']) edges[mode] = await edgeThrough(folder, mode, bytes);
    const turns = Object.entries(edges).map(([mode, edge]) => {
      return [mode, async () => ({ micros: await microsOf(edge.once), rate: await edge.stream() })];
    });
    const { quiet: _, ...taken } = await inTurns(rounds, Object.fromEntries(turns));
    report(taken);
  } finally {
    for (const edge of Object.values(edges)) edge.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(taken) {
  const micros = (mode) => taken[mode].map((both) => both.micros);
  const rates = (mode) => taken[mode].map((both) => both.rate / 1e6);
  for (const mode of Object.keys(taken)) {
    spread(`${mode}, one object`, micros(mode), 'µs', 0);
    spread(`${mode}, in a stream`, rates(mode), 'MB/s', 0);
  }
  spread('mutual TLS / plain, time of one object', ratios(micros('mutual TLS'), micros('plain')), '');
  spread('plain / mutual TLS, rate of a stream', ratios(rates('plain'), rates('mutual TLS')), '');
}

async function microsOf(one) {
  const begin = performance.now();
  let rounds = 0;
  let elapsed = 0;
  for (; elapsed < SLICE_MILLIS; elapsed = performance.now() - begin) {
    await one();
    rounds++;
  }
  return (elapsed * 1000) / rounds;
}

/** This process is producer and consumer; the gateways of nodes 2 and 3 are processes of their own. */
async function edgeThrough(folder, mode, bytes) {
  const credentials = mode === 'plain' ? [] : await twoCredentials();
  const path = (name) => join(folder, `${mode[0]}-${name}.sock`);
  const edge = { runId: 1n, generation: 1, edgeId: 1n, producerNodeId: 2n };
  const contract = { ...edge, maxExtent: bytes, alignment: 4, capacity: 16 * (bytes + 40) };
  const taking = await gateway({
    localSocket: path('local3'),
    socket: path('in'),
    nodeId: 3,
    credentials: credentials[1],
  });
  const giving = await gateway({
    localSocket: path('local2'),
    addresses: [`3=${taking.address}`],
    nodeId: 2,
    credentials: credentials[0],
  });
  let arrived = () => {};
  let room = () => {};
  let ready;
  const isReady = new Promise((resolve) => {
    ready = resolve;
  });
  const silent = { onFault: () => {}, onNote: () => {} };
  const listening = await listenForEdge(path('in'), contract, {
    ...silent,
    onReady: () => {},
    onObject: (object) => {
      listener.taken(object);
      arrived();
    },
  });
  if (listening.kind === 'refused') throw new Error(listening.fault.message);
  const { listener } = listening;
  const dialer = new EdgeDialer(path('local2'), contract, { ...silent, onReady: ready, onRoom: () => room() });
  await isReady;
  const object = { session: 1n, flags: 0, payload: randomBytes(bytes) };
  const one = () =>
    new Promise((resolve) => {
      arrived = () => resolve(undefined);
      dialer.send(object);
    });
  const stream = async () => {
    let taken = 0;
    let sent = 0;
    const begin = performance.now();
    const isOver = () => performance.now() - begin > SLICE_MILLIS;
    await new Promise((resolve) => {
      arrived = () => {
        taken++;
        if (isOver() && taken === sent) resolve();
      };
      room = () => {
        for (; !isOver() && dialer.hasRoom(bytes); sent++) dialer.send(object);
      };
      room();
    });
    return (taken * bytes * 1000) / (performance.now() - begin);
  };
  const end = () => {
    for (const { child } of [taking, giving]) child.kill();
  };
  return { once: one, stream, end };
}

async function gateway(options) {
  const child = fork(fileURLToPath(import.meta.url), ['gateway']);
  child.send(options);
  const [address] = await once(child, 'message');
  return { child, address };
}

async function serveGateway() {
  const [{ localSocket, socket, addresses, nodeId, credentials }] = await once(process, 'message');
  const opened = await openEdgeGateway({
    localSocket,
    listen: '127.0.0.1:0',
    addresses,
    credentials: credentials && (() => credentials),
    onNote: (sentence) => console.error(sentence),
  });
  if (opened.kind === 'refused') throw new Error(opened.message);
  const taken = { edgeId: 1n, producerNodeId: 2n, socket };
  const given = { edgeId: 1n, consumerNodeId: 3n };
  const own = { edgeId: 9n, producerNodeId: BigInt(nodeId), consumerNodeId: BigInt(nodeId), socket: '/nowhere' };
  opened.gateway.register({
    runId: 1n,
    generation: 1,
    nodeId: BigInt(nodeId),
    inbound: nodeId === 3 ? taken : own,
    outbound: nodeId === 2 ? given : own,
  });
  process.send(opened.gateway.address);
}

async function twoCredentials() {
  const serial = () => serialNumber(randomBytes(16));
  const files = await makeAuthority(serial(), Date.now());
  const authority = await readAuthority(files);
  const issued = [2n, 3n].map(async (nodeId) => {
    const pair = await makeKeyPair();
    const key = await readRequest(await requestCertificate(pair));
    /** @type {import('../dist/src/pki/issue-client.js').ClientSubject} */
    const subject = {
      role: 'agent',
      name: `n${nodeId}`,
      nodeId,
      serial: serial(),
      now: Date.now(),
      lifetime: 3_600_000,
    };
    const certificate = await issueClient(authority, key, subject);
    return { ca: files.certificate, certificate, privateKey: pair.privateKey };
  });
  return Promise.all(issued);
}
