import { defineCommand } from '../command.js';
import { clientSettings } from '../config/common-settings.js';
import { defaultDataFolder } from '../config/default-folder.js';
import { readFolder, readOneOf } from '../config/readers.js';
import { optional, required, type Values } from '../config/setting.js';

const settings = {
  role: required(readOneOf('orchestrator', 'agent'), {
    placeholder: '<daemon>',
    description:
      'an orchestrator is asked whether it serves; of an agent it is enough that it runs here and has joined once',
    fallback: 'orchestrator',
  }),
  data: optional(readFolder, {
    placeholder: '<folder>',
    description: `data folder of the agent; default: ${defaultDataFolder('agent')}`,
    environment: true,
  }),
  ...clientSettings,
};

export type HealthValues = Values<typeof settings>;

export const healthCommand = defineCommand({
  name: 'health',
  summary: 'tell by the exit code whether a daemon is well, for what supervises it',
  settings,
  operands: {},
  examples: ['health', 'health --role agent --data /var/lib/stageplane'],
  load: async () => (await import('../actions/health.js')).health,
});
