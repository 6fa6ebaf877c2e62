import { defineCommand } from '../command.js';
import { jsonSetting } from '../config/common-settings.js';

export const versionCommand = defineCommand({
  name: 'version',
  summary: 'show what is installed here: versions, protocols, engines',
  settings: jsonSetting,
  operands: {},
  examples: ['version', 'version --json | jq .engines'],
  load: async () => (await import('../actions/version.js')).showVersion,
});
