// How long a scrape of /metrics takes while agents are connected and runs come and go on all of them. The orchestrator, its
// agents and the scraper have a thread each, so that a scrape waits for the orchestrator alone; the figures never pass or fail.
//
//   npm run bench:metrics -- --agents 200
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Agent, Launcher, openOrchestrator } from './agents.mjs';

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
  agents.postMessage('begin');
  const loaded = await timesOf(httpUrl, scrapes);
  agents.postMessage('end');
  const [runs] = await once(agents, 'message');
  const { bytes, series } = await scrape(httpUrl);
  orchestrator.postMessage('end');
  await once(orchestrator, 'exit');
  console.log(`${count} agents with 2 devices each: ${series} series, ${(bytes / 1024).toFixed(0)} KB`);
  show('at rest', quiet);
  show(`during ${runs} runs on all of them`, loaded);
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
  const launcher = new Launcher(address, count);
  const agents = Array.from({ length: count }, (_, at) => new Agent(address, `agent-${at}`, undefined, devices));
  await Promise.all(agents.map(({ joined }) => joined));
  parentPort.postMessage('joined');
  await once(parentPort, 'message');
  let isOver = false;
  parentPort.once('message', () => {
    isOver = true;
  });
  let runs = 0;
  for (; !isOver; runs++) {
    await launcher.wholeRun(runs);
    await Promise.all(agents.map((agent) => agent.echo()));
  }
  parentPort.postMessage(runs);
  for (const agent of agents) agent.close();
  launcher.close();
}

async function scrape(httpUrl) {
  const started = performance.now();
  const text = await (await fetch(`${httpUrl}/metrics`)).text();
  const millis = performance.now() - started;
  return {
    millis,
    bytes: text.length,
    series: text.split('\n').filter((line) => line && !line.startsWith('#')).length,
  };
}

async function timesOf(httpUrl, times) {
  for (let warm = 0; warm < 20; warm++) await scrape(httpUrl);
  const taken = [];
  for (let at = 0; at < times; at++) {
    taken.push((await scrape(httpUrl)).millis);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return taken.sort((a, b) => a - b);
}

function show(what, sorted) {
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))].toFixed(1);
  console.log(`scrape ${what.padEnd(32)} p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`);
}
