/** The stage worker process. Says hello before it imports anything heavy: agents start workers ahead of need. */
import { STAGE_FEATURES, WORKER_PROTOCOL } from '../core/protocols.js';
import { engines } from './engine/engines.js';

// Ctrl-C and a closed terminal reach the whole process group; what happens to a stage is the agent's decision.
process.on('SIGINT', () => {});
process.on('SIGHUP', () => {});
// Nobody reads any more: the agent is gone.
process.stdout.on('error', () => process.kill(process.pid, 'SIGKILL'));

const hello = { protocol: WORKER_PROTOCOL, engines: [...engines.keys()], features: STAGE_FEATURES };
process.stdout.write(`${JSON.stringify({ hello })}\n`);

const { serveStage } = await import('./serve-stage.js');
serveStage();
