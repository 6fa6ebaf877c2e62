import { defineCommand } from '../command.js';
import { jsonSetting } from '../config/common-settings.js';
import { readText } from '../config/readers.js';
import { optional, toggle } from '../config/setting.js';

export const demoCommand = defineCommand({
  name: 'demo',
  summary: 'start an orchestrator and agents on this machine and run a small model across them',
  settings: {
    model: optional(readText, { placeholder: '<file>', description: 'model to run; default: a tiny one made for it' }),
    writeModel: optional(readText, {
      placeholder: '<file>',
      description:
        'only write such a tiny model to this file, to try the other commands with; it must not be there yet',
    }),
    secure: toggle('everyone shows a certificate, and edges go over mutual TLS'),
    keep: toggle('keep the folder with data and logs'),
    ...jsonSetting,
  },
  operands: {},
  examples: ['demo', 'demo --secure', 'demo --model model.gguf --keep', 'demo --write-model tiny.gguf'],
  load: async () => (await import('../actions/demo.js')).demo,
});
