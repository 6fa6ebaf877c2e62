import { limits } from '../../core/limits.js';
import { defineCommand } from '../command.js';
import { DEFAULT_ADDRESS, jsonSetting, logSettings } from '../config/common-settings.js';
import { defaultDataFolder } from '../config/default-folder.js';
import { edgeSettings } from '../config/edge-settings.js';
import {
  readAddress,
  readBytes,
  readCount,
  readDuration,
  readFolder,
  readId,
  readLabel,
  readModelsFolder,
  readName,
  readTarget,
  readText,
  readWords,
} from '../config/readers.js';
import { list, optional, type Reading, required, toggle, type Values } from '../config/setting.js';
import { formatDuration } from '../format/duration.js';

const settings = {
  orchestrator: list(readTarget, {
    placeholder: '<address>',
    description: 'host:port or unix:/path of the orchestrator; may be repeated, they are tried in turn',
    fallback: DEFAULT_ADDRESS,
    environment: true,
  }),
  join: optional(readText, {
    placeholder: '<token>',
    description: 'token of `stageplane token create`, for the first start against an orchestrator that was initialised',
    environment: true,
  }),
  enroll: optional(readAddress, {
    placeholder: '<host:port>',
    description: 'where the token is redeemed; default: two ports after that of the orchestrator',
    environment: true,
  }),
  name: optional(readName, {
    placeholder: '<name>',
    description: 'name of this node, for people; default: the name of the machine',
    environment: true,
  }),
  data: required(readFolder, {
    placeholder: '<folder>',
    description: 'where identity and logs are kept',
    fallback: defaultDataFolder('agent'),
    environment: true,
  }),
  models: list(readModelsFolder, {
    placeholder: '<folder>',
    description: 'where models are looked for, and nowhere else; may be repeated',
    fallback: '.',
    environment: true,
  }),
  worker: optional(readWords, {
    placeholder: '<command>',
    description: 'stage worker to start instead of the built-in one; quotes hold words together',
    environment: true,
  }),
  nodeId: optional(readNodeId, {
    placeholder: '<id>',
    description: 'node id to ask for at the first contact, from 2 on',
    environment: true,
  }),
  rejoin: toggle('join as a new node when this one belonged to another cluster', { environment: true }),
  label: list(readLabel, {
    placeholder: '<key=value>',
    description: 'label of this node; may be repeated',
    environment: true,
  }),
  memory: optional(readBytes, {
    placeholder: '<size>',
    description: 'RAM that stages may use, such as 16GiB; default: all of this machine',
    environment: true,
  }),
  warmWorkers: optional(readCount(0), {
    placeholder: '<count>',
    description: 'workers kept started before they are needed',
    environment: true,
  }),
  workerMemoryLimit: optional(readBytes, {
    placeholder: '<size>',
    description:
      'memory that one worker may have for itself, such as 8GiB, mapped model files not counted; default: any',
    environment: true,
  }),
  workerOpenFiles: optional(readCount(1), {
    placeholder: '<count>',
    description: "files and connections that one worker may have open; default: the system's own limit",
    environment: true,
  }),
  stepDeadline: required(readDuration(0), {
    placeholder: '<duration>',
    description: 'a stage may be at one micro-batch for so long; 0 is never',
    fallback: formatDuration(limits.stepMillis),
    environment: true,
  }),
  ...edgeSettings,
  ...logSettings,
  ...jsonSetting,
};

export type AgentValues = Values<typeof settings>;

export const agentCommand = defineCommand({
  name: 'agent',
  summary: 'offer this machine as a node until it is told to stop',
  settings,
  operands: {},
  examples: [
    'agent --models ~/models',
    'agent --orchestrator 10.0.0.5:7070 --name gpu-a --join sp1...',
    'agent --orchestrator 10.0.0.5:7070 --label room=lab',
  ],
  load: async () => (await import('../actions/agent.js')).agent,
});

function readNodeId(text: string): Reading<bigint> {
  const reading = readId(text);
  if (reading.kind === 'refused' || reading.value >= 2n) return reading;
  return { kind: 'refused', problem: 'is no node id for an agent; they start at 2' };
}
