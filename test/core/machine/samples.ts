import { DtypeFamily, type ModelFacts } from '../../../gen/stageplane/v1/model.js';
import { DeviceKind } from '../../../gen/stageplane/v1/node.js';
import type { Hello } from '../../../gen/stageplane/v1/node_agent_service.js';
import { RuntimeConfig, SamplingPolicy } from '../../../gen/stageplane/v1/plan.js';
import { type PlanRequest, RunMode } from '../../../gen/stageplane/v1/planner.js';

/** A model of eight layers that no file backs. */
export const sampleFacts: ModelFacts = {
  modelId: 'tiny',
  ggufSource: { source: { $case: 'localPath', value: 'tiny.gguf' } },
  numLayers: 8,
  hiddenDim: 64n,
  dtypeFamily: DtypeFamily.DTYPE_FAMILY_FLOAT,
  dtypeWidthBytes: 4n,
  maxSeqLen: 256n,
  eosTokenId: 2,
  tokenizer: { source: { $case: 'embeddedGguf', value: {} } },
};

/** A request for that model with one stage on each of the nodes, in their order; with a prompt it is ONE_SHOT. */
export function samplePlan(nodeIds: readonly bigint[], prompt = ''): PlanRequest {
  return {
    model: sampleFacts.ggufSource,
    facts: sampleFacts,
    runtime: RuntimeConfig.create({
      prompt: { source: { $case: 'inline', value: prompt } },
      sampling: SamplingPolicy.create(),
    }),
    mode: RunMode.RUN_MODE_UNSPECIFIED,
    placement: {
      $case: 'fixedLinear',
      value: { stages: nodeIds.map((id, stageIndex) => ({ stageIndex, nodeId: id })), activationEdges: [] },
    },
    stageCount: nodeIds.length,
  };
}

export function sampleHello(name: string, overrides: Partial<Hello> = {}): Hello {
  return {
    name,
    instanceId: `instance-${name}`,
    processId: `process-${name}`,
    clusterId: '',
    highestEpoch: 0n,
    protocolMin: 1,
    protocolMax: 1,
    engines: [{ name: 'fixture', build: '1', deviceIds: ['cpu'], features: [] }],
    descriptor: {
      machine: name,
      operatingSystem: 'linux',
      architecture: 'x64',
      physicalCores: 4,
      agentVersion: '0.1.0',
      devices: [
        { deviceId: 'cpu', kind: DeviceKind.DEVICE_KIND_CPU, name: 'cpu', totalBytes: 1n << 34n, freeBytes: 1n << 33n },
      ],
      labels: {},
    },
    held: [],
    pinnedNodeId: 0n,
    ...overrides,
  };
}
