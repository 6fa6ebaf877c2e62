// How long a scrape of /metrics takes while agents are connected: at rest, and under loads that begin with what a busy pool
// does and end with all that this machine can. The orchestrator, its agents and the scraper have a thread each, so that a
// scrape waits for the orchestrator alone; the figures never pass or fail.
//
//   npm run bench:metrics -- --agents 200
import { once } from 'node:events';
import { Agent as Connections, get } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { defaultTimings } from '../dist/src/core/machine/timings.js';
import { Agent, Launcher, openOrchestrator } from './agents.mjs';

/** Besides heartbeats at the pace of real agents: runs one after the other, of how many stages and with what between them. */
const LOADS = {
  'runs of 8 stages': { stages: 8, pauseMillis: 100 },
  'runs on all nodes': { stages: Infinity, pauseMillis: 1000 },
  'runs on all nodes, and nothing else to do': { stages: Infinity, pauseMillis: 0 },
};
/** Scrapes must not be the load themselves. */
const SCRAPE_PAUSE_MILLIS = 50;
/** A daemon has been up for a while when it is scraped. */
const WARM_RUNS = 5;
const connection = new Connections({ keepAlive: true, maxSockets: 1 });

if (isMainThread) await measure();
else if (workerData.role === 'orchestrator') await serve();
else await load(workerData);

async function measure() {
  const { values } = parseArgs({
    options: { agents: { type: 'string', default: '200' }, scrapes: { type: 'string', default: '300' } },
  });
  const count = Math.min(Number(values.agents), 512);
  const scrapes = Number(values.scrapes);
  const orchestrator = start({ role: 'orchestrator' });
  const [{ address, httpUrl }] = await once(orchestrator, 'message');
  const agents = start({ role: 'agents', address, count });
  await once(agents, 'message');
  const quiet = await timesOf(httpUrl, scrapes);
  console.log(`${count} agents with 2 devices each`);
  show('at rest', quiet);
  for (const [name, order] of Object.entries(LOADS)) {
    agents.postMessage(order);
    const times = await timesOf(httpUrl, scrapes);
    agents.postMessage('end');
    const [runs] = await once(agents, 'message');
    show(`${runs} ${name}`, times);
  }
  agents.postMessage('close');
  const { bytes, series } = await sizeOf(httpUrl);
  orchestrator.postMessage('end');
  await once(orchestrator, 'exit');
  console.log(`a scrape has ${series} series, ${(bytes / 1024).toFixed(0)} KB`);
}

function start(workerData) {
  return new Worker(new URL(import.meta.url), { workerData });
}

async function serve() {
  const { address, httpUrl, stop } = await openOrchestrator(async () => {}, { http: '127.0.0.1:0' });
  parentPort.postMessage({ address, httpUrl });
  parentPort.once('message', () => stop());
}

async function load({ address, count }) {
  const devices = ['cpu', 'gpu0'].map((deviceId, at) => ({
    deviceId,
    kind: at + 1,
    name: deviceId,
    totalBytes: 1n << 36n,
    freeBytes: 1n << 35n,
  }));
  const launcher = new Launcher(address);
  const agents = Array.from({ length: count }, (_, at) => new Agent(address, `agent-${at}`, undefined, devices));
  await Promise.all(agents.map(({ joined }) => joined));
  let round = 0;
  while (round < WARM_RUNS) await launcher.wholeRun(round++, count);
  parentPort.postMessage('joined');
  for (
    let [order] = await once(parentPort, 'message');
    order !== 'close';
    [order] = await once(parentPort, 'message')
  ) {
    const stopBeating = beat(agents);
    let isOver = false;
    parentPort.once('message', () => {
      isOver = true;
    });
    const before = round;
    while (!isOver) {
      await launcher.wholeRun(round++, Math.min(order.stages, count));
      if (order.pauseMillis > 0) await setTimeout(order.pauseMillis);
      else await Promise.all(agents.map((agent) => agent.echo()));
    }
    stopBeating();
    parentPort.postMessage(round - before);
  }
  for (const agent of agents) agent.close();
  launcher.close();
}

/** Each agent at its own moment, as often as real ones. */
function beat(agents) {
  let at = 0;
  const timer = setInterval(() => agents[at++ % agents.length].echo(), defaultTimings.heartbeat / agents.length);
  return () => clearInterval(timer);
}

/** Milliseconds until the last byte is here. Nothing is made of the bytes: what the scraper does with them is its own affair. */
async function scrape(httpUrl) {
  const started = performance.now();
  const [response] = await once(get(`${httpUrl}/metrics`, { agent: connection }), 'response');
  response.resume();
  await once(response, 'end');
  return performance.now() - started;
}

async function sizeOf(httpUrl) {
  const text = await (await fetch(`${httpUrl}/metrics`)).text();
  return { bytes: text.length, series: text.split('\n').filter((line) => line && !line.startsWith('#')).length };
}

async function timesOf(httpUrl, times) {
  for (let warm = 0; warm < 20; warm++) await scrape(httpUrl);
  const taken = [];
  for (let at = 0; at < times; at++) {
    taken.push(await scrape(httpUrl));
    await setTimeout(SCRAPE_PAUSE_MILLIS);
  }
  return taken.sort((a, b) => a - b);
}

function show(what, sorted) {
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))].toFixed(1);
  console.log(`scrape ${what.padEnd(48)} p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`);
}
