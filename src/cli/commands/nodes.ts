import { defineCommand } from '../command.js';
import { clientSettings } from '../config/common-settings.js';
import { readText } from '../config/readers.js';
import { operand } from '../config/setting.js';

const oneNode = { node: operand(readText, { placeholder: '<node>', description: 'name or id of the node' }) };

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
    summary: 'let a node take new stages again',
    settings: clientSettings,
    operands: oneNode,
    examples: ['nodes uncordon alpha'],
    load: async () => (await import('../actions/nodes-uncordon.js')).nodesUncordon,
  }),
];
