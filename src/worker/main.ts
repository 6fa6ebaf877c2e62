/** The stage worker process. Says hello before it imports anything heavy: agents start workers ahead of need. */
import { engineList } from './engine/engines.js';
import { sayHello } from './say-hello.js';

sayHello(engineList.offered.keys());
const { serveStage } = await import('./serve-stage.js');
serveStage(new URL('./engine-thread.js', import.meta.url));
