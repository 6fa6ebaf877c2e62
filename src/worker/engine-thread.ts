/** The thread of our own engines. */
import { engineList } from './engine/engines.js';
import { runEngineThread } from './run-engine-thread.js';

await runEngineThread(engineList);
