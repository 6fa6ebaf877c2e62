import { limits } from '../../core/limits.js';
import { defineCommand } from '../command.js';
import { dataSetting, jsonSetting, readLogLevel } from '../config/common-settings.js';
import { readCount, readDuration, readId, readText } from '../config/readers.js';
import { operand, optional, required, toggle, type Values } from '../config/setting.js';

const auditSettings = {
  ...dataSetting,
  since: optional(readDuration(1, limits.longestAuditMillis), {
    placeholder: '<duration>',
    description: 'only what happened within so long, such as 1h',
  }),
  run: optional(readId, { placeholder: '<id>', description: 'only what was about this run' }),
  node: optional(readId, { placeholder: '<id>', description: 'only what was about the node with this id' }),
  by: optional(readText, {
    placeholder: '<name>',
    description: 'only what was done by this name, serial or address; what concerns a node is under --node',
  }),
  method: optional(readText, { placeholder: '<method>', description: 'only calls such as StopRun' }),
  limit: required(readCount(1), { placeholder: '<events>', description: 'the newest so many', fallback: '100' }),
  follow: toggle('then go on with what comes'),
  ...jsonSetting,
};
export type AuditValues = Values<typeof auditSettings>;

const levelSettings = { ...dataSetting, ...jsonSetting };
const levelOperands = {
  level: operand(readLogLevel, {
    placeholder: '<level>',
    description: 'trace, debug, info, warn, error or fatal',
  }),
};
export type LogLevelValues = Values<typeof levelSettings & typeof levelOperands>;

export const auditCommands = [
  defineCommand({
    name: 'audit',
    summary: 'show who did what to runs, nodes, tokens and certificates of the orchestrator of this machine',
    settings: auditSettings,
    operands: {},
    examples: ['audit --since 1h', 'audit --run 7', 'audit --by tablet --follow'],
    load: async () => (await import('../actions/audit.js')).auditAction,
  }),
  defineCommand({
    name: 'log-level',
    summary: 'change how much the orchestrator of this machine logs, until it ends',
    settings: levelSettings,
    operands: levelOperands,
    examples: ['log-level debug'],
    load: async () => (await import('../actions/log-level.js')).logLevel,
  }),
];
