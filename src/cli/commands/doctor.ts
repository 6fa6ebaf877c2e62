import { defineCommand } from '../command.js';
import { DEFAULT_ADDRESS, jsonSetting } from '../config/common-settings.js';
import { defaultDataFolder } from '../config/default-folder.js';
import { readAddress, readFolder, readOneOf, readTarget } from '../config/readers.js';
import { list, optional, required, type Values } from '../config/setting.js';

const settings = {
  role: required(readOneOf('orchestrator', 'agent'), {
    placeholder: '<daemon>',
    description: 'what shall run here: orchestrator or agent',
    fallback: 'orchestrator',
  }),
  data: optional(readFolder, {
    placeholder: '<folder>',
    description: `data folder of that daemon; default: ${defaultDataFolder('orchestrator')}, or agent beside it`,
    environment: true,
  }),
  listen: required(readAddress, {
    placeholder: '<host:port>',
    description: 'where the orchestrator would listen',
    fallback: DEFAULT_ADDRESS,
    environment: true,
  }),
  orchestrator: optional(readTarget, {
    placeholder: '<address>',
    description: 'host:port or unix:/path of an orchestrator that shall answer, and whose clock is compared',
    environment: true,
  }),
  credentials: optional(readFolder, {
    placeholder: '<folder>',
    description: 'where the certificate to show it is kept; default: that of the node, or of this user',
    environment: true,
  }),
  // A folder that is missing is what this command is asked about.
  models: list(readFolder, {
    placeholder: '<folder>',
    description: 'where models are looked for; may be repeated',
    fallback: '.',
    environment: true,
  }),
  ...jsonSetting,
};

export type DoctorValues = Values<typeof settings>;

export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'look whether this machine is fit for a daemon, and change nothing',
  settings,
  operands: {},
  examples: [
    'doctor',
    'doctor --role agent --orchestrator 10.0.0.5:7070 --models ~/models',
    'doctor --json | jq .checks',
  ],
  load: async () => (await import('../actions/doctor.js')).doctor,
});
