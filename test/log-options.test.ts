import pino from 'pino';
import { expect, it } from 'vitest';
import { openCall } from '../src/grpc/open-call.js';
import { logOptions } from '../src/log-options.js';

/** A log, and what was written to it. */
function openLog(level = 'info') {
  const lines: string[] = [];
  const logger = pino({ ...logOptions, level }, { write: (line: string) => void lines.push(line) });
  return { logger, lines };
}

it('nothing secret comes into a log, wherever it lies', () => {
  const { logger, lines } = openLog();
  for (const name of ['prompt', 'text', 'token', 'secret', 'key', 'authorization', 'cookie']) {
    logger.info({ [name]: 'xyzzy' }, 'by itself');
    logger.info({ request: { [name]: 'xyzzy' } }, 'inside');
    logger.info({ request: { headers: { [name]: 'xyzzy' } } }, 'deeper');
    logger.info({ err: Object.assign(new Error('no'), { [name]: 'xyzzy' }) }, 'in an error');
    logger.child({ [name]: 'xyzzy' }).info('of a child');
  }
  expect(lines).toHaveLength(35);
  expect(lines.filter((line) => line.includes('xyzzy'))).toEqual([]);
  expect(JSON.parse(lines[0]!)).toMatchObject({ prompt: '[secret]', msg: 'by itself' });
});

it('an id is a string, since a number of 64 bits is read as another one', () => {
  const { logger, lines } = openLog();
  logger.info({ runId: 18446744073709551615n, stageIndex: 3 }, 'a');
  expect(JSON.parse(lines[0]!)).toMatchObject({ runId: '18446744073709551615', stageIndex: 3 });
});

it('a level that changes at run time is that of calls that are open already', () => {
  const { logger, lines } = openLog();
  const call = {
    on: () => {},
    once: () => {},
    getPeer: () => '127.0.0.1:1',
    getAuthContext: () => ({}),
    getPath: () => '/a/b',
    getDeadline: () => Number.POSITIVE_INFINITY,
  };
  const { context } = openCall(call, logger);
  context.logger.debug('unheard');
  logger.level = 'debug';
  context.logger.debug('heard');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ msg: 'heard', method: '/a/b', peer: '127.0.0.1:1' }]);
});
