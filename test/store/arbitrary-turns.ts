import fc from 'fast-check';
import { ModelInspection } from '../../gen/stageplane/v1/model.js';
import { PlanRequest, RunMode } from '../../gen/stageplane/v1/planner.js';
import { RunPhaseChanged, RunPhase as WirePhase, RunCause as WireRunCause } from '../../gen/stageplane/v1/run.js';
import { millis, nodeId, revision, runId, wallMillis } from '../../src/core/ids.js';
import type { Draft } from '../../src/core/machine/draft.js';
import { runPhases } from '../../src/core/machine/run-transitions.js';
import { stagePhases } from '../../src/core/machine/stage-transitions.js';
import type {
  NodeState,
  Remnant,
  RestartBasis,
  RestartState,
  RunCause,
  RunState,
  StageState,
} from '../../src/core/machine/state.js';
import { joinRoles, keyRoles } from '../../src/core/role.js';
import {
  engineOffer,
  ggufSource,
  nodeDescriptor,
  runPlan,
  stageFault,
  stageFootprint,
  stageSettings,
  text,
  textAnswer,
  uint32,
  uint64,
} from './arbitrary-messages.js';

/** One change that a turn makes; it does nothing where it makes no sense. */
export type Deed = (draft: Draft) => void;

const STAGES = 3;
const few = fc.nat(11);
const time = fc.integer({ min: 0, max: 8_000_000_000_000 }).map(wallMillis);
const anyNodeId = fc.bigInt(1n, 2n ** 63n - 1n).map(nodeId);

const putNode: fc.Arbitrary<Deed> = fc
  .record({
    nodeId: few.map((pick) => nodeId(BigInt(pick % 4) + 2n)),
    name: text,
    cordoned: fc.boolean(),
    drainUntil: fc.option(time, { nil: undefined }),
    descriptor: nodeDescriptor,
    engines: fc.array(engineOffer, { maxLength: 2 }),
    createdAt: time,
  })
  .map((parts) => (draft) => {
    const node: NodeState = { ...parts, instanceId: `instance-${parts.nodeId}`, revision: revision(0n) };
    draft.putNode(node);
  });

const stage: fc.Arbitrary<Omit<StageState, 'index'>> = fc.record({
  nodeId: anyNodeId,
  phase: fc.constantFrom(...stagePhases),
  fault: fc.option(stageFault, { nil: undefined }),
  footprint: fc.option(stageFootprint, { nil: undefined }),
  volatile: fc.constantFrom({}, { since: millis(7) }),
});

const cause: fc.Arbitrary<RunCause> = fc.record({
  fault: stageFault,
  stageIndex: fc.option(uint32, { nil: undefined }),
  nodeId: fc.option(anyNodeId, { nil: undefined }),
  component: fc.constantFrom('agent', 'worker', 'orchestrator', 'token-endpoint'),
  revision: fc.bigInt(1n, 2n ** 63n - 1n).map(revision),
  fixed: fc.boolean(),
});

const progress = fc.record({
  phase: fc.constantFrom(...runPhases),
  outcome: fc.option(fc.constantFrom('COMPLETED' as const, 'FAULTED' as const, 'STOPPED' as const), { nil: undefined }),
  cause: fc.option(cause, { nil: undefined }),
});

const stages = fc.array(stage, { minLength: 1, maxLength: STAGES }).map(numbered);

const remnants: fc.Arbitrary<Remnant[]> = fc
  .record({ generation: fc.nat(9), stages, settings: stageSettings })
  .map(({ generation, stages, settings }) => stages.map((stage) => ({ generation, stage, settings })));

const basis: fc.Arbitrary<RestartBasis> = fc.record({
  request: fc.record({ model: ggufSource, stageCount: uint32 }).map((parts) => PlanRequest.fromPartial(parts)),
  inspection: fc.option(
    uint64.map((fileBytes) => ModelInspection.create({ fileBytes })),
    { nil: undefined },
  ),
  modelCuts: fc.option(
    fc.record({
      kind: fc.constant('cuttable' as const),
      engine: text,
      starts: fc.array(fc.nat(99), { maxLength: 3 }),
      rule: text,
      refusedLengths: fc.array(fc.record({ layers: fc.nat(99), because: text }), { maxLength: 2 }),
    }),
    { nil: undefined },
  ),
});

const restart: fc.Arbitrary<RestartState> = fc.record({
  maxAttempts: fc.nat(100),
  backoff: fc.nat(300_000),
  attempts: fc.nat(100),
  lastCause: fc.option(
    text.map((message) => WireRunCause.create({ message, reason: 3 })),
    { nil: undefined },
  ),
  obstacle: text,
  basis: fc.option(basis, { nil: undefined }),
});

const planned = fc.record({
  plan: runPlan,
  planId: text,
  fidelity: text,
  settings: fc.array(stageSettings, { maxLength: STAGES }),
  stages,
});

const putRun: fc.Arbitrary<Deed> = fc
  .record({
    mode: fc.constantFrom(RunMode.RUN_MODE_ONE_SHOT, RunMode.RUN_MODE_SERVING),
    createdAt: time,
    progress,
    planned,
    restart: fc.option(restart, { nil: undefined }),
  })
  .map(({ mode, createdAt, progress, planned, restart }) => (draft) => {
    const id = draft.cluster.nextRunId;
    draft.cluster = { ...draft.cluster, nextRunId: runId(id + 1n) };
    const run = { runId: id, requestId: `request-${id}`, mode, generation: 1, createdAt, ...progress, ...planned };
    recordAndPut(draft, { ...run, remnants: [], restart, revision: revision(0n), volatile: { endpoint: 'opening' } });
    draft.putRequest({ requestId: run.requestId, digest: run.planId, runId: id });
  });

/** The run moves on, and one of its stages with it: in one field, since a store may compare them one by one. */
const moveRun: fc.Arbitrary<Deed> = fc
  .record({
    pick: few,
    progress,
    index: few,
    stage,
    field: fc.constantFrom('nodeId', 'phase', 'fault', 'footprint', 'volatile'),
  })
  .map(({ pick, progress, index, stage, field }) => (draft) => {
    const run = pickRun(draft, pick);
    if (!run) return;
    const known = run.stages[index % run.stages.length]!;
    const moved = { ...known, [field]: stage[field] };
    recordAndPut(draft, { ...run, ...progress, stages: run.stages.with(known.index, moved) });
  });

/** The run begins again, with another plan or with the very same one. */
const replanRun: fc.Arbitrary<Deed> = fc
  .record({ pick: few, progress, planned: fc.option(planned, { nil: {} }), again: fc.record({ remnants, restart }) })
  .map(({ pick, progress, planned, again }) => (draft) => {
    const run = pickRun(draft, pick);
    if (run) recordAndPut(draft, { ...run, ...progress, ...planned, ...again, generation: run.generation + 1 });
  });

/** What an earlier generation left behind is settled, or the run will not begin again: its generation stays. */
const settle: fc.Arbitrary<Deed> = fc
  .record({ pick: few, remnants, restart: fc.option(restart, { nil: undefined }), isRemnant: fc.boolean() })
  .map(({ pick, remnants, restart, isRemnant }) => (draft) => {
    const run = pickRun(draft, pick);
    if (run) recordAndPut(draft, { ...run, ...(isRemnant ? { remnants } : { restart }) });
  });

const deleteNode: fc.Arbitrary<Deed> = few.map((pick) => (draft) => {
  const id = nodeId(BigInt(pick % 4) + 2n);
  if (draft.node(id)) draft.deleteNode(id);
});

/** The plan changes within its generation, in one field. The machine never does this; a store must not lose it. */
const amendPlan: fc.Arbitrary<Deed> = fc
  .record({ pick: few, planned, field: fc.constantFrom('plan', 'planId', 'settings', 'fidelity') })
  .map(({ pick, planned, field }) => (draft) => {
    const run = pickRun(draft, pick);
    if (run) recordAndPut(draft, { ...run, [field]: planned[field] });
  });

const deleteRun: fc.Arbitrary<Deed> = few.map((pick) => (draft) => {
  const run = pickRun(draft, pick);
  if (run) draft.deleteRun(run.runId);
});

/** An answer, of a run that may be deleted in the same turn. */
const putAnswer: fc.Arbitrary<Deed> = fc
  .record({ pick: few, answer: textAnswer })
  .map(({ pick, answer }) => (draft) => {
    const run = pickRun(draft, pick);
    if (run) draft.answers.set(run.runId, answer);
  });

/** Of a few keys, so that one replaces another; it outlives its run. */
const putFootprint: fc.Arbitrary<Deed> = fc
  .record({
    pick: few,
    progress,
    key: fc.constantFrom('a', 'b', 'c d', ''),
    deviceBytes: fc.bigInt(1n, 2n ** 63n - 1n),
  })
  .map(({ pick, progress, key, deviceBytes }) => (draft) => {
    const run = pickRun(draft, pick);
    if (!run) return;
    recordAndPut(draft, { ...run, ...progress });
    draft.putFootprint({ key, deviceBytes, revision: draft.cluster.revision });
  });

const putToken: fc.Arbitrary<Deed> = fc
  .record({
    digest: fc.constantFrom('a', 'b', 'c'),
    role: fc.constantFrom(...joinRoles),
    nodeName: text,
    expiresAt: time,
    redeemed: fc.option(fc.record({ name: text, nodeId: fc.option(anyNodeId, { nil: undefined }), keyDigest: text }), {
      nil: undefined,
    }),
  })
  .map(({ redeemed, ...token }) => (draft) => {
    // What a token is for never changes, only whether it was used.
    const known = draft.access.token(token.digest) ?? token;
    draft.access.putToken({ ...known, redeemed: redeemed && { ...redeemed, role: known.role } });
  });

const putCertificate: fc.Arbitrary<Deed> = fc
  .record({
    serial: fc.constantFrom('1', '2', '3'),
    role: fc.constantFrom(...joinRoles),
    name: text,
    nodeId: fc.option(anyNodeId, { nil: undefined }),
    notAfter: time,
    revoked: fc.boolean(),
  })
  .map((certificate) => (draft) => {
    const known = draft.access.certificate(certificate.serial) ?? certificate;
    draft.access.putCertificate({ ...known, revoked: certificate.revoked });
  });

const putKey: fc.Arbitrary<Deed> = fc
  .record({
    digest: fc.constantFrom('a', 'b', 'c'),
    name: text,
    role: fc.constantFrom(...keyRoles),
    createdAt: time,
    expiresAt: fc.option(time, { nil: undefined }),
  })
  .map((key) => (draft) => draft.access.putKey(key));

const forgetExpired: fc.Arbitrary<Deed> = time.map((wall) => (draft) => draft.access.forgetExpired(wall));

const beginEpoch: fc.Arbitrary<Deed> = fc.constant((draft) => {
  draft.cluster = { ...draft.cluster, epoch: draft.cluster.epoch + 1n };
});

/** Turns of a few deeds each, over few runs and nodes, so that they meet. */
export const turns: fc.Arbitrary<Deed[][]> = fc.array(
  fc.array(
    fc.oneof(
      { arbitrary: putRun, weight: 3 },
      { arbitrary: moveRun, weight: 4 },
      { arbitrary: replanRun, weight: 1 },
      { arbitrary: amendPlan, weight: 1 },
      { arbitrary: deleteRun, weight: 1 },
      { arbitrary: putAnswer, weight: 2 },
      { arbitrary: putFootprint, weight: 2 },
      { arbitrary: putNode, weight: 2 },
      { arbitrary: deleteNode, weight: 1 },
      { arbitrary: settle, weight: 1 },
      { arbitrary: beginEpoch, weight: 1 },
      { arbitrary: putToken, weight: 2 },
      { arbitrary: putCertificate, weight: 2 },
      { arbitrary: putKey, weight: 2 },
      { arbitrary: forgetExpired, weight: 1 },
    ),
    { maxLength: 6 },
  ),
  { maxLength: 6 },
);

/** One of the runs there have been so far, unless it was deleted. */
function pickRun(draft: Draft, pick: number): RunState | undefined {
  const created = draft.cluster.nextRunId - 1n;
  return created > 0n ? draft.run(runId((BigInt(pick) % created) + 1n)) : undefined;
}

function recordAndPut(draft: Draft, run: RunState): void {
  const phase = RunPhaseChanged.create({ phase: WirePhase.RUN_PHASE_RUNNING });
  draft.putRun({ ...run, revision: draft.record(run, { $case: 'runPhase', value: phase }) });
}

function numbered(stages: Omit<StageState, 'index'>[]): StageState[] {
  return stages.map((stage, index) => ({ ...stage, index }));
}
