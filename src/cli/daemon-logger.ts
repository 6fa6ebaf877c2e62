import { type Logger, pino, stdTimeFunctions } from 'pino';
import { sendGrpcLogTo } from '../grpc/grpc-log.js';

/** The log of a daemon on stderr, grpc-js's own lines among it: for people on a terminal, JSON elsewhere and on demand. */
export async function openLogger(level: string, json: boolean): Promise<Logger> {
  const logger = await openStderrLogger(level, json);
  sendGrpcLogTo(logger);
  return logger;
}

async function openStderrLogger(level: string, json: boolean): Promise<Logger> {
  const options = { level, base: null, timestamp: stdTimeFunctions.isoTime };
  if (json || process.stderr.isTTY !== true) return pino(options, pino.destination({ dest: 2, sync: true }));
  const { default: pretty } = await import('pino-pretty');
  const colorize = !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  return pino(options, pretty({ destination: 2, sync: true, colorize, translateTime: 'SYS:HH:MM:ss.l' }));
}
