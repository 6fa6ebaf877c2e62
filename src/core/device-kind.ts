import { DeviceKind } from '../../gen/stageplane/v1/node.js';

/** RAM is the device "cpu", whatever a node says of it; everything else is an accelerator. */
export function deviceKindOf(deviceId: string): DeviceKind {
  return deviceId === 'cpu' ? DeviceKind.DEVICE_KIND_CPU : DeviceKind.DEVICE_KIND_GPU;
}
