import { pino } from 'pino';
import { TokenEndpointEvent } from '../../gen/stageplane/v1/token_endpoint.js';
import { limits } from '../core/limits.js';
import { logOptions } from '../log-options.js';
import { LineSplitter } from '../worker/line-splitter.js';
import { defectFault } from '../worker/stage-fault.js';
import { TokenEndpoint } from './token-endpoint.js';

/** Exit code of an endpoint that was ended by SIGTERM: it was not asked over the protocol, so it says no `stopped`. */
const TERMINATED = 128 + 15;

/** Connects a token endpoint with its process: stdin, stdout, stderr, signals and the exit. Runs until that ends. */
export function serveTokenEndpoint(): void {
  const log = pino({ ...logOptions, base: { pid: process.pid } }, pino.destination({ dest: 2, sync: true }));
  const endpoint = new TokenEndpoint({
    say,
    log,
    now: () => performance.now(),
    later: (millis, call) => {
      const timer = setTimeout(call, millis);
      return () => clearTimeout(timer);
    },
    close: () => end(0, 'commanded', { $case: 'stopped', value: {} }),
  });
  let ending = false;

  function end(code: number, why: string, lastWords?: NonNullable<TokenEndpointEvent['event']>): void {
    if (ending) return;
    ending = true;
    log.info({ why }, 'token endpoint ends');
    endpoint.end(`the token endpoint ended (${why}): start the run again`);
    if (lastWords === undefined) process.exit(code);
    process.stdout.write(line(lastWords), () => process.exit(code));
  }

  /** An exit would wait for threads, which a read of a dead disk may hold for ever (I18). */
  function endAtOnce(): void {
    endpoint.end('the orchestrator ended: start the run again');
    process.kill(process.pid, 'SIGKILL');
  }

  const reader = new LineSplitter(limits.tokenEndpointLineBytes);
  process.stdin.on('data', (chunk: Buffer) => {
    for (const received of reader.push(chunk)) if (!ending) endpoint.receive(received);
  });
  // However the orchestrator ended, the kernel closes its end of the pipe.
  process.stdin.on('end', endAtOnce);
  process.stdin.on('error', endAtOnce);
  process.on('SIGTERM', () => end(TERMINATED, 'SIGTERM'));
  process.on('uncaughtException', (error) => {
    const fault = defectFault('the token endpoint ended');
    log.fatal({ incident: fault.incident, err: error }, 'uncaught exception');
    endpoint.fault({ ...fault, edgeId: 0n });
    end(1, 'defect');
  });
}

function say(event: NonNullable<TokenEndpointEvent['event']>): void {
  process.stdout.write(line(event));
}

function line(event: NonNullable<TokenEndpointEvent['event']>): string {
  return `${JSON.stringify(TokenEndpointEvent.toJSON({ event }))}\n`;
}
