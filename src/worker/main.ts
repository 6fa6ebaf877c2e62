/** The stage worker process. Says hello before it imports anything heavy: agents start workers ahead of need. */
import { STAGE_FEATURES } from '../core/protocols.js';
import { engineList } from './engine/engines.js';
import { sayHello } from './say-hello.js';

sayHello(engineList.offered.keys(), STAGE_FEATURES);
const { serveStage } = await import('./serve-stage.js');
serveStage(new URL('./engine-thread.js', import.meta.url));
