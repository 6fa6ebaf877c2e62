import { limits } from '../../core/limits.js';
import { defineCommand } from '../command.js';
import { clientSettings } from '../config/common-settings.js';
import { readCount, readId } from '../config/readers.js';
import { operand, operands, optional, toggle } from '../config/setting.js';

const oneRun = { id: operand(readId, { placeholder: '<id>', description: 'id of the run' }) };

export const runsCommands = [
  defineCommand({
    name: 'runs list',
    summary: 'list runs, newest first',
    settings: { active: toggle('only runs that are not DONE'), ...clientSettings },
    operands: {},
    examples: ['runs list --active', 'runs list --json | jq -r .runs[].runId'],
    load: async () => (await import('../actions/runs-list.js')).runsList,
  }),
  defineCommand({
    name: 'runs get',
    summary: 'show one run and its stages',
    settings: clientSettings,
    operands: oneRun,
    examples: ['runs get 7'],
    load: async () => (await import('../actions/runs-get.js')).runsGet,
  }),
  defineCommand({
    name: 'runs watch',
    summary: 'show everything that happens to a run, until it is DONE; Ctrl-C leaves the run alone',
    settings: clientSettings,
    operands: oneRun,
    examples: ['runs watch 7', 'runs watch 7 --json'],
    load: async () => (await import('../actions/runs-watch.js')).runsWatch,
  }),
  defineCommand({
    name: 'runs logs',
    summary: "show the last lines of a stage's log",
    settings: {
      lines: optional(readCount(1), {
        placeholder: '<count>',
        description: `lines at most; default: ${limits.defaultPageSize}`,
      }),
      ...clientSettings,
    },
    operands: {
      ...oneRun,
      stage: operand(readCount(0), { placeholder: '<stage>', description: 'index of the stage' }),
    },
    examples: ['runs logs 7 0', 'runs logs 7 1 --lines 500'],
    load: async () => (await import('../actions/runs-logs.js')).runsLogs,
  }),
  defineCommand({
    name: 'runs stop',
    summary: 'stop a run',
    settings: { wait: toggle('stay until the run is DONE; Ctrl-C leaves it alone'), ...clientSettings },
    operands: oneRun,
    examples: ['runs stop 7 --wait'],
    load: async () => (await import('../actions/runs-stop.js')).runsStop,
  }),
  defineCommand({
    name: 'runs delete',
    summary: 'forget runs that are DONE',
    settings: clientSettings,
    operands: { ids: operands(readId, { placeholder: '<id>', description: 'ids of the runs' }) },
    examples: ['runs delete 7 8 9'],
    load: async () => (await import('../actions/runs-delete.js')).runsDelete,
  }),
];
