import { type STAGE_FEATURES, WORKER_PROTOCOL } from '../core/protocols.js';

/** The first line of a worker, and its signals: from now on the agent takes it for one. */
export function sayHello(engines: Iterable<string>, features: readonly (typeof STAGE_FEATURES)[number][]): void {
  // Ctrl-C and a closed terminal reach the whole process group; what happens to a stage is the agent's decision.
  process.on('SIGINT', () => {});
  process.on('SIGHUP', () => {});
  // Nobody reads any more: the agent is gone.
  process.stdout.on('error', () => process.kill(process.pid, 'SIGKILL'));
  const hello = { protocol: WORKER_PROTOCOL, engines: [...engines], features };
  process.stdout.write(`${JSON.stringify({ hello })}\n`);
}
