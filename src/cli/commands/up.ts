import { defineCommand } from '../command.js';
import { clientSettings, DEFAULT_ADDRESS, jsonSetting } from '../config/common-settings.js';
import { defaultDataFolder } from '../config/default-folder.js';
import { readAddress, readFolder, readTarget } from '../config/readers.js';
import { optional, required, type Values } from '../config/setting.js';
import { checkPlacement, modelOperand, planSettings } from './plan-settings.js';

const settings = {
  orchestrator: optional(readTarget, {
    placeholder: '<address>',
    description: 'serve it there; default: the orchestrator of this machine, and where there is none a new one',
  }),
  credentials: clientSettings.credentials,
  listen: required(readAddress, {
    placeholder: '<host:port>',
    description: 'where a new orchestrator listens; port 0 lets the system choose',
    fallback: DEFAULT_ADDRESS,
  }),
  http: optional(readAddress, {
    placeholder: '<host:port>',
    description: 'where a new orchestrator serves HTTP; default: on this machine, the port after --listen',
  }),
  data: required(readFolder, {
    placeholder: '<folder>',
    description: 'where what is started keeps its state and its logs',
    fallback: defaultDataFolder('up'),
  }),
  ...planSettings,
  ...jsonSetting,
};

export type UpValues = Values<typeof settings & typeof modelOperand>;

export const upCommand = defineCommand({
  name: 'up',
  summary: "serve a model to programs made for OpenAI's API, from nothing: Ctrl-C ends what it has started",
  settings,
  operands: modelOperand,
  examples: [
    'up model.gguf',
    'up model.gguf --context 16384 --sessions 4',
    'up model.gguf --stages 3 --fidelity exact',
  ],
  check: checkPlacement,
  load: async () => (await import('../actions/up.js')).up,
});
