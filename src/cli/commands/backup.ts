import { defineCommand } from '../command.js';
import { jsonSetting } from '../config/common-settings.js';
import { defaultDataFolder } from '../config/default-folder.js';
import { readFolder, readPath } from '../config/readers.js';
import { operand, required, toggle, type Values } from '../config/setting.js';

const data = (description: string) =>
  required(readFolder, {
    placeholder: '<folder>',
    description,
    fallback: defaultDataFolder('orchestrator'),
    environment: true,
  });

const backupSettings = {
  data: data('data folder of the orchestrator; its admin.sock is asked'),
  force: toggle('replace the file if it is there'),
  ...jsonSetting,
};
const backupOperands = {
  file: operand(readPath, { placeholder: '<file>', description: 'the new file, outside the data folder' }),
};
export type BackupValues = Values<typeof backupSettings & typeof backupOperands>;

const restoreSettings = {
  data: data('data folder of the orchestrator, which must not run'),
  force: toggle('replace the database that is there; its files are kept under other names'),
  ...jsonSetting,
};
const restoreOperands = {
  file: operand(readPath, { placeholder: '<file>', description: 'what `stageplane backup` has made' }),
};
export type RestoreValues = Values<typeof restoreSettings & typeof restoreOperands>;

export const backupCommands = [
  defineCommand({
    name: 'backup',
    summary: 'copy all that the orchestrator of this machine knows to one file, while it runs',
    settings: backupSettings,
    operands: backupOperands,
    examples: ['backup /mnt/stick/monday.splb', 'backup monday.splb --data /var/lib/stageplane --force'],
    load: async () => (await import('../actions/backup.js')).backup,
  }),
  defineCommand({
    name: 'restore',
    summary: 'put a backup into the data folder of an orchestrator that does not run',
    settings: restoreSettings,
    operands: restoreOperands,
    examples: ['restore /mnt/stick/monday.splb', 'restore monday.splb --data /var/lib/stageplane --force'],
    load: async () => (await import('../actions/restore.js')).restoreAction,
  }),
];
