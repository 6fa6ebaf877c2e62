import { defaultDataFolder } from './default-folder.js';
import { readFolder, readOneOf, readTarget } from './readers.js';
import { optional, required, toggle } from './setting.js';

/** Where an orchestrator listens, and everyone else looks for it, when nobody says. */
export const DEFAULT_ADDRESS = '127.0.0.1:7070';

export const jsonSetting = { json: toggle('print JSON instead of text for people') };

/** Of every command that talks to the orchestrator of this machine, through its admin socket. */
export const dataSetting = {
  data: required(readFolder, {
    placeholder: '<folder>',
    description: 'data folder of the orchestrator of this machine',
    fallback: defaultDataFolder('orchestrator'),
    environment: true,
  }),
};

export const readLogLevel = readOneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal');

/** Of every command that talks to an orchestrator. */
export const clientSettings = {
  orchestrator: required(readTarget, {
    placeholder: '<address>',
    description: 'host:port or unix:/path of the orchestrator',
    fallback: DEFAULT_ADDRESS,
    environment: true,
  }),
  credentials: optional(readFolder, {
    placeholder: '<folder>',
    description: 'where the certificate to show is kept; default: where `stageplane join` keeps that of the address',
    environment: true,
  }),
  ...jsonSetting,
};

/** Of the daemons. */
export const logSettings = {
  logLevel: required(readLogLevel, {
    placeholder: '<level>',
    description: 'how much to log: trace, debug, info, warn, error or fatal',
    fallback: 'info',
    environment: true,
  }),
};
