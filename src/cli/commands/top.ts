import { defineCommand } from '../command.js';
import { clientSettings } from '../config/common-settings.js';
import type { Values } from '../config/setting.js';
import { toggle } from '../config/setting.js';

const settings = { once: toggle('show what there is, and leave'), ...clientSettings };

export type TopValues = Values<typeof settings>;

export const topCommand = defineCommand({
  name: 'top',
  summary: 'watch nodes and runs at a glance; lines, one per change, where there is no terminal',
  settings,
  operands: {},
  examples: ['top', 'top --once', 'top --json | jq .event'],
  load: async () => (await import('../actions/top.js')).top,
});
