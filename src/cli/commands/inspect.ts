import { defineCommand } from '../command.js';
import { jsonSetting } from '../config/common-settings.js';
import { readText } from '../config/readers.js';
import { operand, toggle } from '../config/setting.js';

export const inspectCommand = defineCommand({
  name: 'inspect',
  summary: 'show what a GGUF file on this machine holds, layer by layer',
  settings: { tensors: toggle('list every tensor'), ...jsonSetting },
  operands: { file: operand(readText, { placeholder: '<file>', description: 'the file, or its first shard' }) },
  examples: [
    'inspect model.gguf',
    'inspect model-00001-of-00004.gguf --tensors',
    'inspect model.gguf --json | jq .layers',
  ],
  load: async () => (await import('../actions/inspect.js')).inspect,
});
