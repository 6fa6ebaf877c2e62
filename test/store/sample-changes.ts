import { NodeDescriptor } from '../../gen/stageplane/v1/node.js';
import { RunPlan, StagePlan } from '../../gen/stageplane/v1/plan.js';
import { RunMode } from '../../gen/stageplane/v1/planner.js';
import { StageSettings } from '../../gen/stageplane/v1/provision.js';
import { RunEvent } from '../../gen/stageplane/v1/run.js';
import { type TextAnswer, TextDone, type TextDoneReason } from '../../gen/stageplane/v1/token_endpoint.js';
import { nodeId, type Revision, type RunId, revision, runId, wallMillis } from '../../src/core/ids.js';
import type { Changes } from '../../src/core/machine/changes.js';
import type { ClusterState, NodeState, RunState } from '../../src/core/machine/state.js';
import type { AuditRecord } from '../../src/store/audit-record.js';

/** A turn that changes what is given, and nothing else. */
export function changesOf(cluster: ClusterState, parts: Partial<Changes> = {}): Changes {
  return {
    cluster,
    nodes: [],
    deletedNodes: [],
    runs: [],
    deletedRuns: [],
    requests: [],
    events: [],
    answers: [],
    footprints: [],
    tokens: new Map(),
    certificates: new Map(),
    keys: new Map(),
    ...parts,
  };
}

/** The turn that creates a run with one event and its request; takes one revision. */
export function createRunChanges(cluster: ClusterState, stages = 2): Changes {
  const id = cluster.nextRunId;
  const next: ClusterState = { ...cluster, nextRunId: runId(id + 1n), revision: revision(cluster.revision + 1n) };
  const after = sampleRun(id, next.revision, stages);
  return changesOf(next, {
    runs: [{ before: undefined, after }],
    requests: [{ requestId: after.requestId, digest: 'digest', runId: id }],
    events: [sampleEvent(id, next.revision)],
  });
}

export function sampleRun(id: RunId, at: Revision, stages: number): RunState {
  const indices = Array.from({ length: stages }, (_, index) => index);
  const path = { source: { $case: 'localPath' as const, value: '/models/tiny.gguf' } };
  return {
    runId: id,
    requestId: `request-${id}`,
    mode: RunMode.RUN_MODE_SERVING,
    phase: 'PROVISIONING',
    generation: 1,
    plan: RunPlan.create({
      runId: id,
      stages: indices.map((stageIndex) => StagePlan.create({ runId: id, stageIndex, ggufSource: path })),
    }),
    planId: `plan-${id}`,
    settings: indices.map(() => StageSettings.create({ engine: 'fixture' })),
    fidelity: 'same-kernels',
    stages: indices.map((index) => ({ index, nodeId: nodeId(BigInt(index) + 2n), phase: 'PENDING', volatile: {} })),
    remnants: [],
    createdAt: wallMillis(1_700_000_000_000),
    revision: at,
    volatile: {},
  };
}

export function sampleEvent(id: RunId, at: Revision): RunEvent {
  return RunEvent.create({ revision: at, runId: id, generation: 1, at: new Date(1_700_000_000_000) });
}

export function sampleNode(id: bigint): NodeState {
  return {
    nodeId: nodeId(id),
    name: `node-${id}`,
    instanceId: `instance-${id}`,
    cordoned: false,
    descriptor: NodeDescriptor.create({ machine: 'bench' }),
    engines: [],
    createdAt: wallMillis(1_700_000_000_000),
    revision: revision(1n),
  };
}

export function sampleAnswer(text: string, reason: TextDoneReason): TextAnswer {
  return { text, tokenIds: [1, 2], done: TextDone.create({ reason, generatedTokens: 2 }) };
}

/** A record of the audit log; what it says differs from field to field. */
export function sampleRecord(at: number, parts: Partial<AuditRecord> = {}): AuditRecord {
  return {
    kind: 'change',
    at: wallMillis(at),
    since: wallMillis(at),
    count: 1,
    by: { kind: 'certificate', role: 'launcher', name: 'lena', serial: 'ab12', address: '10.0.0.5' },
    method: 'stageplane.v1.OrchestratorService/StopRun',
    target: 'run 7',
    runId: 7n,
    nodeId: undefined,
    code: 'OK',
    reason: 'R',
    incident: 'c0ffee',
    ...parts,
  };
}
