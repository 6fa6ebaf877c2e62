import { defineCommand } from '../command.js';
import { jsonSetting } from '../config/common-settings.js';
import { defaultDataFolder } from '../config/default-folder.js';
import { readFolder } from '../config/readers.js';
import { required } from '../config/setting.js';

export const serverInfoCommand = defineCommand({
  name: 'server info',
  summary: 'show who the orchestrator of this machine is and how it does',
  settings: {
    data: required(readFolder, {
      placeholder: '<folder>',
      description: 'data folder of the orchestrator; its admin.sock is asked',
      fallback: defaultDataFolder('orchestrator'),
      environment: true,
    }),
    ...jsonSetting,
  },
  operands: {},
  examples: ['server info', 'server info --data /var/lib/stageplane --json'],
  load: async () => (await import('../actions/server-info.js')).serverInfo,
});
