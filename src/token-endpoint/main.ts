/** The token endpoint process. Says hello before it imports anything heavy. */
import { TokenEndpointEvent } from '../../gen/stageplane/v1/token_endpoint.js';
import { usableTokenizers } from './open-tokenizer.js';

// Ctrl-C and a closed terminal reach the whole process group; what happens to a run is the orchestrator's decision.
process.on('SIGINT', () => {});
process.on('SIGHUP', () => {});
// Nobody reads any more: the orchestrator is gone.
process.stdout.on('error', () => process.kill(process.pid, 'SIGKILL'));

const hello = { protocol: 1, tokenizers: usableTokenizers() };
process.stdout.write(`${JSON.stringify(TokenEndpointEvent.toJSON({ event: { $case: 'hello', value: hello } }))}\n`);

const { serveTokenEndpoint } = await import('./serve-token-endpoint.js');
serveTokenEndpoint();
