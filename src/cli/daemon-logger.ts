import { type Logger, pino } from 'pino';
import { sendGrpcLogTo } from '../grpc/grpc-log.js';
import { logOptions } from '../log-options.js';

/**
 * The log of a daemon on stderr, grpc-js's own lines among it: for people on a terminal, JSON elsewhere and on demand.
 * SIGUSR2 makes it log `debug`, and the next one `level` again.
 */
export async function openLogger(level: string, json: boolean): Promise<Logger> {
  const logger = await openStderrLogger(level, json);
  sendGrpcLogTo(logger);
  process.on('SIGUSR2', () => {
    const next = logger.level === 'debug' ? level : 'debug';
    logger.level = next;
    logger.info({ logLevel: next }, 'the level of the log was changed');
  });
  return logger;
}

async function openStderrLogger(level: string, json: boolean): Promise<Logger> {
  const options = { ...logOptions, level };
  if (json || process.stderr.isTTY !== true) return pino(options, pino.destination({ dest: 2, sync: true }));
  const { default: pretty } = await import('pino-pretty');
  const colorize = !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  return pino(options, pretty({ destination: 2, sync: true, colorize, translateTime: 'SYS:HH:MM:ss.l' }));
}
