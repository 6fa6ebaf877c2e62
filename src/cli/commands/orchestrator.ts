import { limits } from '../../core/limits.js';
import { defaultTimings } from '../../core/machine/timings.js';
import { openAddressProblem } from '../../orchestrator/open-address.js';
import { isInitialised } from '../../pki/is-initialised.js';
import { defineCommand } from '../command.js';
import { DEFAULT_ADDRESS, jsonSetting, logSettings } from '../config/common-settings.js';
import { defaultDataFolder } from '../config/default-folder.js';
import { edgeSettings } from '../config/edge-settings.js';
import { readAddress, readAddressOrOff, readDuration, readFolder, readModelsFolder } from '../config/readers.js';
import { list, optional, required, toggle, type Values } from '../config/setting.js';
import type { Violation } from '../failure.js';
import { formatDuration } from '../format/duration.js';

const settings = {
  listen: required(readAddress, {
    placeholder: '<host:port>',
    description: 'where launchers and agents connect; port 0 lets the system choose',
    fallback: DEFAULT_ADDRESS,
    environment: true,
  }),
  enrollListen: optional(readAddress, {
    placeholder: '<host:port>',
    description: 'where tokens are redeemed, after `stageplane init`; default: two ports after that of --listen',
    environment: true,
  }),
  http: optional(readAddressOrOff, {
    placeholder: '<host:port>',
    description:
      'where the dashboard and the OpenAI-compatible endpoint are, or off; default: on this machine, the port after that of --listen',
    environment: true,
  }),
  certificateLifetime: required(readDuration(1, limits.longestCertificateMillis), {
    placeholder: '<duration>',
    description: 'a certificate that is issued is good for so long; agents renew theirs at half of it',
    fallback: formatDuration(limits.certificateMillis),
    environment: true,
  }),
  data: required(readFolder, {
    placeholder: '<folder>',
    description: 'where the state is kept',
    fallback: defaultDataFolder('orchestrator'),
    environment: true,
  }),
  models: list(readModelsFolder, {
    placeholder: '<folder>',
    description:
      'where models are looked for, by launchers nowhere else; may be repeated; default: none for launchers, for the operator the working directory',
    environment: true,
  }),
  insecure: toggle('ask nobody for a certificate, in words: what `stageplane init` was not run for', {
    environment: true,
  }),
  trustNetwork: toggle('with --insecure: listen beyond this machine, where whoever connects may do everything', {
    environment: true,
  }),
  ...edgeSettings,
  heartbeat: period('between two heartbeats of an agent', defaultTimings.heartbeat),
  lease: period('an agent out of contact for so long stops its workers; 0 is never', defaultTimings.lease, 0),
  grace: period('a node may be out of contact for so long', defaultTimings.grace),
  startGrace: period('the same after a start, when every node comes back at once', defaultTimings.graceAfterStart),
  ackDeadline: period('a provision must be acknowledged within', defaultTimings.acknowledge),
  loadDeadline: period('a loading stage must make progress within', defaultTimings.load),
  edgeDeadline: period('edges must be open after the last stage has loaded within', defaultTimings.edges),
  stopDeadline: period('a stop must be confirmed within', defaultTimings.stop),
  ...logSettings,
  ...jsonSetting,
};

export type OrchestratorValues = Values<typeof settings>;

export const orchestratorCommand = defineCommand({
  name: 'orchestrator',
  summary: 'run the orchestrator until it is told to stop',
  settings,
  operands: {},
  examples: [
    'orchestrator --models ~/models',
    'orchestrator --listen 0.0.0.0:7070 --insecure --trust-network --data /var/lib/stageplane',
  ],
  check,
  load: async () => (await import('../actions/orchestrator.js')).orchestrator,
});

function period(description: string, fallback: number, least = 1) {
  return required(readDuration(least), {
    placeholder: '<duration>',
    description,
    fallback: formatDuration(fallback),
    environment: true,
  });
}

function check({
  listen,
  http,
  data,
  insecure,
  trustNetwork,
  lease,
  heartbeat,
}: Partial<OrchestratorValues>): readonly Violation[] {
  const problems: Violation[] = [];
  const isSecure = data !== undefined && isInitialised(data);
  const isToldTwice = insecure !== false && trustNetwork !== false;
  if (!isToldTwice && !isSecure) {
    problems.push(...openAddress('--listen', listen), ...openAddress('--http', http === 'off' ? undefined : http));
  }
  if (lease && heartbeat !== undefined && lease <= heartbeat) {
    const message = `${formatDuration(lease)} is no longer than the heartbeat, ${formatDuration(heartbeat)}; every lease would end between two heartbeats`;
    problems.push({ field: '--lease', message });
  }
  return problems;
}

function openAddress(field: string, address: string | undefined): readonly Violation[] {
  const message = address === undefined ? undefined : openAddressProblem(address);
  return message === undefined ? [] : [{ field, message }];
}
