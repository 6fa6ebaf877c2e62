import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CreateRunResponse,
  type GetRunRequest,
  type GetStageLogRequest,
  GetStageLogResponse,
  type ListNodesRequest,
  type ListRunsRequest,
  PlanRunResponse,
  type StopRunRequest,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { Fidelity, KvCacheType } from '../../gen/stageplane/v1/provision.js';
import { PlanRejection, PlanRejectionKind } from '../../gen/stageplane/v1/rejection.js';
import { RunOutcome, RunPhase, RunSummary } from '../../gen/stageplane/v1/run.js';
import { RpcError } from '../../src/grpc/rpc-error.js';
import { stageplane } from './child.js';
import { FakeOrchestrator } from './fake-orchestrator.js';
import { alpha, beta, sampleNode, samplePlan, sampleReport, sampleRun, sampleSettings } from './sample.js';

/** Of run 7, whose stage 0 is on alpha. */
const reservedSettings = sampleSettings.map((settings) => ({ ...settings, reservedBytes: 2n << 30n }));

const rejection = PlanRejection.fromPartial({
  kind: PlanRejectionKind.PLAN_REJECTION_KIND_MISSING_STAGE,
  message: 'stage 1 has no node: place it',
  violations: [
    { field: 'placement.fixed_linear.stages', message: 'stage 1 is missing' },
    { field: 'placement.fixed_linear.stages', message: 'stage 2 is missing' },
  ],
});

const summary = RunSummary.fromPartial({
  runId: 7n,
  modelId: 'tiny\u001b[2J',
  phase: RunPhase.RUN_PHASE_DONE,
  outcome: RunOutcome.RUN_OUTCOME_FAULTED,
  stageCount: 2,
  readyStages: 1,
  cause: 'the worker ended\nby itself',
});

/** Rejects whatever asks for three stages, accepts everything else. */
const fake = new FakeOrchestrator({
  // One node per page, so that the pages have to be followed.
  listNodes: ({ pageToken }: ListNodesRequest) => {
    const pages = [alpha, beta, sampleNode(4n, 'evil\u001b]0;x\u0007\n')];
    const at = Number(pageToken || 0);
    return { nodes: [pages[at]!], nextPageToken: at + 1 < pages.length ? String(at + 1) : '' };
  },
  getNode: () => ({ node: alpha }),
  listRuns: ({ activeOnly }: ListRunsRequest) => ({
    // Run 9 is deleted between two calls.
    runs: activeOnly ? [{ ...summary, runId: 9n }, summary] : [summary],
    nextPageToken: '',
  }),
  getRun: ({ runId }: GetRunRequest) => {
    if (runId === 7n) return { run: { ...sampleRun, settings: reservedSettings } };
    throw new RpcError(status.NOT_FOUND, 'RUN_NOT_FOUND', `there is no run ${runId}`);
  },
  stopRun: ({ runId }: StopRunRequest) => {
    throw new RpcError(status.UNAVAILABLE, 'SERVER_STOPPING', `not now, run ${runId}`);
  },
  deleteRun: ({ runId }: { runId: bigint }) => {
    if (runId !== 8n) return {};
    throw new RpcError(status.FAILED_PRECONDITION, 'RUN_NOT_DONE', 'run 8 is RUNNING');
  },
  getStageLog: ({ stageIndex }: GetStageLogRequest) =>
    stageIndex !== 1
      ? GetStageLogResponse.fromPartial({ fromFault: stageIndex === 2 })
      : GetStageLogResponse.fromPartial({ lines: ['loading', 'bad \u001b[31mline'], fromFault: true }),
  planRun: ({ plan }: { plan: { stageCount: number } }) =>
    plan.stageCount === 3
      ? PlanRunResponse.fromPartial({ outcome: { $case: 'rejection', value: rejection }, report: sampleReport })
      : PlanRunResponse.fromPartial({
          outcome: { $case: 'plan', value: { plan: samplePlan, settings: sampleSettings } },
          report: sampleReport,
        }),
  createRun: ({ plan, requestId }: { plan: { stageCount: number }; requestId: string }) => {
    if (requestId === 'bad') {
      const fieldViolations = [
        { field: 'plan.model', description: 'is missing' },
        { field: 'plan.stage_count', description: 'is above 512' },
      ];
      throw new RpcError(status.INVALID_ARGUMENT, 'INVALID_FIELDS', 'plan.model: is missing (and 1 more)', {
        fieldViolations,
      });
    }
    return plan.stageCount === 3
      ? CreateRunResponse.fromPartial({ outcome: { $case: 'rejection', value: rejection } })
      : CreateRunResponse.fromPartial({ outcome: { $case: 'run', value: sampleRun } });
  },
});

const ask = (...words: string[]) => stageplane([...words, '--orchestrator', fake.address]);

beforeAll(() => fake.start());
afterAll(() => fake.stop());

describe('lists', () => {
  it('show nodes of all pages, with nothing that could steer a terminal', async () => {
    const { code, stdout, stderr } = await ask('nodes', 'list');
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect(lines[1]).toMatch(/^ 2 {2}alpha +schedulable +0 {2}fixture {2}cpu 12.0 GiB of 16.0 GiB +-$/);
    expect(lines[3]).toContain('evil\\x1b]0;x\\x07\\x0a');
    expect(stdout).not.toMatch(/[^\P{Cc}\n]/u);
  });

  it('show runs, escaped likewise', async () => {
    const { code, stdout } = await ask('runs', 'list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/\n +7 {2}tiny\\x1b\[2J {2}DONE +FAULTED +1\/2 +- {2}the worker ended\\x0aby itself\n$/);
  });

  it('are one JSON document with --json, int64 as strings', async () => {
    const { stdout } = await ask('runs', 'list', '--json');
    expect(JSON.parse(stdout)).toEqual({ runs: [expect.objectContaining({ runId: '7', phase: 'RUN_PHASE_DONE' })] });
    expect(stdout).not.toContain('\u001b');
  });
});

describe('one thing', () => {
  it('is found by name or id', async () => {
    expect((await ask('nodes', 'get', 'alpha')).stdout).toContain('node:        alpha (2)');
    expect((await ask('nodes', 'get', '2', '--json')).stdout).toContain('"nodeId": "2"');
    expect(fake.requestsOf('getNode')).toEqual([{ nodeId: 2n }, { nodeId: 2n }]);
  });

  it('that there is not is a failure that names what there is', async () => {
    const node = await ask('nodes', 'cordon', 'gamma');
    expect(node).toMatchObject({ code: 1, stdout: '' });
    expect(node.stderr).toContain('stageplane: there is no node "gamma"; the known nodes are alpha (2), beta (3), ');
    expect(await ask('runs', 'get', '9')).toEqual({ code: 1, stdout: '', stderr: 'stageplane: there is no run 9\n' });
  });

  it('shows a run with its stages', async () => {
    const { stdout } = await ask('runs', 'get', '7');
    expect(stdout).toContain('phase:      PROVISIONING\nfidelity:   same-kernels\n');
    expect(stdout).toMatch(/ 0 {2}alpha \(2\) {2}\[0, 3\) {2}█{9}·{15} {2}SENT +- {2}- +-\n/);
  });

  it('says that a log is empty', async () => {
    expect(await ask('runs', 'logs', '7', '0')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'stageplane: stage 0 of run 7 has written no log\n',
    });
  });

  it('does not call a log empty whose agent cannot be asked', async () => {
    const { stdout, stderr } = await ask('runs', 'logs', '7', '2');
    expect([stdout, stderr]).toEqual([
      '',
      'stageplane: the agent of stage 2 of run 7 is away: ask again when it is back\n',
    ]);
  });

  it('shows a log, and that its agent is away', async () => {
    const { stdout, stderr } = await ask('runs', 'logs', '7', '1');
    expect(stdout).toBe('loading\nbad \\x1b[31mline\n');
    expect(stderr).toBe('stageplane: the agent is away; these lines travelled with the fault\n');
  });

  it('is deleted although its neighbour cannot be', async () => {
    const { code, stdout, stderr } = await ask('runs', 'delete', '7', '8', '9');
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: 'deleted run 7\ndeleted run 9\n',
      stderr: 'stageplane: run 8 is RUNNING\n',
    });
  });
});

describe('plan', () => {
  it('draws the plan', async () => {
    const { code, stdout } = await ask('plan', 'no-such-file.gguf', '--context', '64');
    expect(code).toBe(0);
    expect(stdout).toMatch(/ 1 {2}beta \(3\) +\[3, 8\) {2}·{12}█{20} +2 {2}unknown\n/);
    expect(stdout).toContain('fidelity: mixed\n');
    // A file that is not here is the orchestrator's business.
    expect(fake.requestsOf('planRun').at(-1)).toMatchObject({
      plan: {
        model: { source: { value: 'no-such-file.gguf' } },
        settings: { contextLength: 64 },
        placement: { $case: 'automatic' },
      },
    });
  });

  it('asks for what its flags say, and for nothing else', async () => {
    const flags =
      '--engine llama.cpp --threads 3 --micro-batch 64 --sessions 2 --context 128 --fidelity exact --seed 18446744073709551615 ' +
      '--kv-cache-type q8_0 --flash-attention --temperature 0.7 --top-k 40 --max-tokens 9 --json ' +
      '--top-p 0.95 --min-p 0.05 --repeat-penalty 1.1 --repeat-last-n 256 --presence-penalty -0.5 --frequency-penalty 2 --stop END --stop .';
    const { code, stdout } = await ask('plan', 'm.gguf', ...flags.split(' '));
    expect(code).toBe(0);
    const { plan, report } = JSON.parse(stdout);
    expect(plan.settings.map(({ threads }: { threads: number }) => threads)).toEqual([4, 2]);
    expect(report.fidelity).toBe('mixed');
    expect(fake.requestsOf('planRun').at(-1)).toMatchObject({
      plan: {
        settings: {
          engine: 'llama.cpp',
          threads: 3,
          microBatch: 64,
          sessions: 2,
          contextLength: 128,
          fidelity: Fidelity.FIDELITY_EXACT,
          seed: 2n ** 64n - 1n,
          kvCacheType: KvCacheType.KV_CACHE_TYPE_Q8_0,
          flashAttention: true,
        },
        runtime: {
          maxTokens: 9,
          sampling: {
            temperatureMillis: 700,
            topK: 40,
            topPMillis: 950,
            minPMillis: 50,
            repeatPenaltyMillis: 1100,
            repeatLastN: 256,
            presencePenaltyMillis: -500,
            frequencyPenaltyMillis: 2000,
          },
          stop: ['END', '.'],
        },
      },
    });
    await ask('plan', 'm.gguf');
    expect(fake.requestsOf('planRun').at(-1)).toMatchObject({ plan: { settings: undefined, runtime: undefined } });
    await ask('run', 'm.gguf', '--fidelity', 'fast', '--top-k', '1');
    expect(fake.requestsOf('createRun').at(-1)).toMatchObject({
      plan: { settings: { fidelity: Fidelity.FIDELITY_FAST, threads: 0 }, runtime: { sampling: { topK: 1 } } },
    });
  });

  it('sends names as ids, ranges with their nodes, and a file that is here by its absolute path', async () => {
    await ask('plan', 'package.json', '--place', '0=beta,1=2', '--layers', '1=3-8,0=0-3');
    const { plan } = fake.requestsOf('planRun').at(-1) as { plan: { model: unknown; placement: unknown } };
    expect(plan.model).toEqual({ source: { $case: 'localPath', value: `${process.cwd()}/package.json` } });
    expect(plan.placement).toEqual({
      $case: 'layerRanges',
      value: {
        stages: [
          { stageIndex: 0, nodeId: 3n, layerStart: 0, layerEndExclusive: 3 },
          { stageIndex: 1, nodeId: 2n, layerStart: 3, layerEndExclusive: 8 },
        ],
      },
    });
  });

  it('explains a rejection, with its violations and the nodes left out', async () => {
    const { code, stdout, stderr } = await ask('plan', 'm.gguf', '--stages', '3');
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr.split('\n')).toEqual([
      'stageplane: the plan was rejected, MISSING_STAGE: stage 1 has no node: place it',
      '  placement.fixed_linear.stages: stage 1 is missing',
      '  placement.fixed_linear.stages: stage 2 is missing',
      '  not used: gamma (4), cordoned: node "gamma" is cordoned',
      '',
    ]);
  });

  it('explains one node, with what live runs were promised on it', async () => {
    const { code, stdout, stderr } = await ask('plan', 'm.gguf', '--explain-node', 'alpha');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^node: +alpha \(2\), schedulable\n/);
    expect(stdout).toMatch(/\ncpu +CPU +16\.0 GiB +12\.0 GiB +2\.0 GiB +6\.5 GiB\n/);
    const json = await ask('plan', 'm.gguf', '--explain-node', '2', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ nodeId: '2', devices: [{ reservedBytes: String(2n << 30n) }] });
  });

  it('explains one node of a rejected plan too, and the rejection beside it', async () => {
    const words = ['plan', 'm.gguf', '--stages', '3', '--explain-node', 'alpha'];
    const { code, stdout, stderr } = await ask(...words);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^node: +alpha \(2\)/);
    expect(stderr).toMatch(/^stageplane: the plan was rejected, MISSING_STAGE: /);
    const json = await ask(...words, '--json');
    expect([json.code, JSON.parse(json.stdout).nodeId]).toEqual([3, '2']);
    expect(JSON.parse(json.stderr)).toMatchObject({ reason: 'MISSING_STAGE' });
  });

  it('names the nodes there are when it shall explain one that there is not', async () => {
    const { code, stdout, stderr } = await ask('plan', 'm.gguf', '--explain-node', 'omega');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(
      'stageplane: --explain-node: there is no node "omega"; the known nodes are alpha (2), beta (3), ',
    );
  });

  it('bounds an automatic placement by names that come before the file', async () => {
    await ask('run', '--exclude', 'alpha', '--exclude', '3', 'm.gguf', '--pin', '0=4');
    expect(fake.requestsOf('createRun').at(-1)).toMatchObject({
      plan: {
        model: { source: { value: 'm.gguf' } },
        placement: { value: { constraints: { excludedNodeIds: [2n, 3n], pins: [{ stageIndex: 0, nodeId: 4n }] } } },
      },
    });
    const { code, stderr } = await ask('run', 'm.gguf', '--exclude', 'gamma,alpha');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^stageplane: --exclude: there is no node "gamma"; the known nodes are alpha \(2\)/);
  });

  it('answers a rejection as JSON on stdout: it is an answer', async () => {
    const { code, stdout, stderr } = await ask('plan', 'm.gguf', '--stages', '3', '--json');
    expect([code, stderr]).toEqual([3, '']);
    expect(JSON.parse(stdout).rejection.kind).toBe('PLAN_REJECTION_KIND_MISSING_STAGE');
  });

  it('names the nodes there are when a placement names one that there is not', async () => {
    const { code, stderr } = await ask('plan', 'm.gguf', '--place', '0=alpha,1=delta,2=epsilon');
    expect(code).toBe(2);
    expect(stderr).toMatch(/ {2}--place: there is no node "delta"; the known nodes are alpha \(2\)/);
    expect(stderr).toContain('there is no node "epsilon"');
  });
});

describe('run', () => {
  it('prints the run id', async () => {
    expect(await ask('run', 'm.gguf', '--request-id', 'r1')).toEqual({ code: 0, stdout: 'run 7\n', stderr: '' });
    expect(fake.requestsOf('createRun').at(-1)).toMatchObject({ requestId: 'r1' });
  });

  it('ends with 3 when the plan is rejected', async () => {
    const { code, stderr } = await ask('run', 'm.gguf', '--stages', '3');
    expect([code, stderr.split('\n')[0]]).toEqual([
      3,
      'stageplane: the plan was rejected, MISSING_STAGE: stage 1 has no node: place it',
    ]);
  });

  it('lists the fields that a server refuses', async () => {
    const { code, stderr } = await ask('run', 'm.gguf', '--request-id', 'bad');
    expect(code).toBe(1);
    expect(stderr).toBe(
      'stageplane: plan.model: is missing (and 1 more)\n  plan.model: is missing\n  plan.stage_count: is above 512\n',
    );
    const json = await ask('run', 'm.gguf', '--request-id', 'bad', '--json');
    expect(JSON.parse(json.stderr)).toEqual({
      code: 'INVALID_ARGUMENT',
      reason: 'INVALID_FIELDS',
      message: 'plan.model: is missing (and 1 more)',
      violations: [
        { field: 'plan.model', message: 'is missing' },
        { field: 'plan.stage_count', message: 'is above 512' },
      ],
    });
  });
});

describe('an orchestrator that cannot be reached', () => {
  it('is 5 when nobody listens', async () => {
    const { code, stdout, stderr } = await stageplane(['runs', 'list', '--orchestrator', '127.0.0.1:1']);
    expect([code, stdout]).toEqual([5, '']);
    expect(stderr).toBe(
      'stageplane: no orchestrator answers at 127.0.0.1:1 (ECONNREFUSED); start one with `stageplane orchestrator`, or name another with --orchestrator\n',
    );
  });

  it('is 5 when it says that it cannot answer now', async () => {
    expect(await ask('runs', 'stop', '7')).toEqual({ code: 5, stdout: '', stderr: 'stageplane: not now, run 7\n' });
  });

  it('is 5 when there is no admin socket', async () => {
    const { code, stderr } = await stageplane(['server', 'info', '--data', '/nowhere', '--json']);
    expect(code).toBe(5);
    expect(JSON.parse(stderr)).toMatchObject({ code: 'UNAVAILABLE', reason: 'ORCHESTRATOR_UNREACHABLE' });
  });
});
