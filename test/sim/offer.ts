import { DeviceKind } from '../../gen/stageplane/v1/node.js';
import type { NodeOffer } from '../../src/core/machine/agent/events.js';
import type { Machine } from './machine.js';

/** What an agent says of its machine: one device, of which programs of others take nothing. */
export function offerOf({ name, memoryBytes, freeBytes }: Machine): NodeOffer {
  return {
    engines: [{ name: 'fixture', build: '1', deviceIds: ['cpu'], features: [] }],
    descriptor: {
      machine: name,
      operatingSystem: 'linux',
      architecture: 'x64',
      physicalCores: 8,
      agentVersion: '0.1.0',
      devices: [{ deviceId: 'cpu', kind: DeviceKind.DEVICE_KIND_CPU, name: 'cpu', totalBytes: memoryBytes, freeBytes }],
      labels: {},
    },
  };
}
