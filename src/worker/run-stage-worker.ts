import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { listOwnEngine, type OwnEngine } from './engine/own-engine.js';
import { runEngineThread } from './run-engine-thread.js';
import { sayHello } from './say-hello.js';
import { serveStage } from './serve-stage.js';

/**
 * Makes this process a stage worker with an engine of its own: the last line of a program that an agent is told to run,
 * `stageplane agent --worker "node my-engine.mjs"`. Edges, sessions, prompts in pieces, cancels, health and the end of the
 * process are taken care of; the engine loads its layers and runs them.
 *
 * The program is run twice: by the process, which answers the agent, and in a thread of it, which has the engine. So what
 * stands beside this call has to bear that, and stdout belongs to the agent: write logs to stderr.
 *
 * Never returns control to the agent by itself: the process ends when the agent says so or goes away. What `load` or a
 * step throws is a fault of the stage.
 */
export function runStageWorker(engine: OwnEngine): void {
  const engines = listOwnEngine(engine);
  if (!isMainThread) {
    void runEngineThread(engines);
    return;
  }
  // Nobody knows whether it samples as an answer asks: it is asked for what its run was planned with.
  sayHello(engines.offered.keys(), []);
  serveStage(pathToFileURL(process.argv[1] ?? ''));
}
