import { defineCommand } from '../command.js';
import { jsonSetting } from '../config/common-settings.js';

export const versionCommand = defineCommand({
  name: 'version',
  summary: 'show the version of stageplane',
  settings: jsonSetting,
  operands: {},
  examples: ['version'],
  load: async () => (await import('../actions/version.js')).showVersion,
});
