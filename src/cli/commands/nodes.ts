import { limits } from '../../core/limits.js';
import { defineCommand } from '../command.js';
import { clientSettings } from '../config/common-settings.js';
import { readDuration, readText } from '../config/readers.js';
import { operand, required, toggle, type Values } from '../config/setting.js';

const oneNode = { node: operand(readText, { placeholder: '<node>', description: 'name or id of the node' }) };

const drainSettings = {
  deadline: required(readDuration(0, limits.drainMillis), {
    placeholder: '<duration>',
    description: 'end what is left after so long; 0s ends or moves everything at once',
    fallback: '10m',
  }),
  noWait: toggle('do not wait until the node is free'),
  ...clientSettings,
};

export type DrainValues = Values<typeof drainSettings & typeof oneNode>;

export const nodesCommands = [
  defineCommand({
    name: 'nodes list',
    summary: 'list the nodes of the pool',
    settings: clientSettings,
    operands: {},
    examples: ['nodes list', 'nodes list --json | jq -r .nodes[].name'],
    load: async () => (await import('../actions/nodes-list.js')).nodesList,
  }),
  defineCommand({
    name: 'nodes get',
    summary: 'show one node',
    settings: clientSettings,
    operands: oneNode,
    examples: ['nodes get alpha', 'nodes get 2'],
    load: async () => (await import('../actions/nodes-get.js')).nodesGet,
  }),
  defineCommand({
    name: 'nodes cordon',
    summary: 'keep new stages away from a node; what runs there goes on',
    settings: clientSettings,
    operands: oneNode,
    examples: ['nodes cordon alpha'],
    load: async () => (await import('../actions/nodes-cordon.js')).nodesCordon,
  }),
  defineCommand({
    name: 'nodes uncordon',
    summary: 'let a node take new stages again; ends its drain',
    settings: clientSettings,
    operands: oneNode,
    examples: ['nodes uncordon alpha'],
    load: async () => (await import('../actions/nodes-uncordon.js')).nodesUncordon,
  }),
  defineCommand({
    name: 'nodes drain',
    summary: 'free a node: move its runs or wait for their end; Ctrl-C leaves it to go on',
    settings: drainSettings,
    operands: oneNode,
    examples: ['nodes drain alpha', 'nodes drain alpha --deadline 2h', 'nodes drain alpha --deadline 0s --json'],
    load: async () => (await import('../actions/nodes-drain.js')).nodesDrain,
  }),
  defineCommand({
    name: 'nodes delete',
    summary: 'forget a node whose machine is gone for good; what its stages reserved is free',
    settings: clientSettings,
    operands: oneNode,
    examples: ['nodes delete alpha'],
    load: async () => (await import('../actions/nodes-delete.js')).nodesDelete,
  }),
];
