import { describe, expect, it } from 'vitest';
import { StageFeature } from '../../../gen/stageplane/v1/node.js';
import { GenerateRequest } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { type RuntimeConfig, RuntimePlan, SamplingPolicy } from '../../../gen/stageplane/v1/plan.js';
import { type nodeId, revision, runId } from '../../../src/core/ids.js';
import type { NodeState, RunState } from '../../../src/core/machine/state.js';
import type { RpcError } from '../../../src/grpc/rpc-error.js';
import { askedText, ownText } from '../../../src/orchestrator/text/asked-text.js';
import { checkGenerate } from '../../../src/orchestrator/text/check-generate.js';
import { sampleNode, sampleRun } from '../../store/sample-changes.js';

const planned = SamplingPolicy.create({ temperatureMillis: 700, topK: 40 });

/** Two stages on nodes 2 and 3, whose answers end at "END". */
function runOf(policy: SamplingPolicy = planned): RunState {
  const run = sampleRun(runId(7n), revision(1n), 2);
  const prompt = { source: { $case: 'inline', value: 'own' } } as const;
  run.plan.runtime = RuntimePlan.fromPartial({ sampling: policy, stop: ['END'], prompt });
  return run;
}

function nodesWith(...features: StageFeature[][]): ReadonlyMap<ReturnType<typeof nodeId>, NodeState> {
  const nodes = features.map((known, index) => {
    const engines = [{ name: 'fixture', build: '1', deviceIds: ['cpu'], features: known }];
    return { ...sampleNode(BigInt(index) + 2n), engines };
  });
  return new Map(nodes.map((node) => [node.nodeId, node]));
}

function requestOf(runtime: Partial<RuntimeConfig>, seed?: bigint): GenerateRequest {
  const prompt = { source: { $case: 'inline', value: 'a' } } as const;
  return GenerateRequest.fromPartial({ seed, runtime: { prompt, ...runtime } });
}

const able = [StageFeature.STAGE_FEATURE_SAMPLING];

function violations(request: GenerateRequest, nodes = nodesWith(able, able), run = runOf()): string[] {
  try {
    checkGenerate(run, request, nodes);
    return [];
  } catch (error) {
    return (error as RpcError).fieldViolations.map(({ field, description }) => `${field} ${description}`);
  }
}

describe('a request with sampling of its own', () => {
  const own = requestOf({ sampling: SamplingPolicy.create({ topPMillis: 900 }) });

  it('names the node that would sample otherwise, and is no trouble where all can do it', () => {
    expect(violations(own)).toEqual([]);
    expect(violations(own, nodesWith(able, []))).toEqual([
      expect.stringMatching(/^runtime\.sampling cannot be had: the worker of node "node-3" knows no sampling beyond/),
    ]);
    expect(violations(requestOf({}, 9n), nodesWith([], able))).toEqual([
      expect.stringMatching(/^seed cannot be had: the worker of node "node-2"/),
    ]);
  });

  it('is none when it asks for what is planned: then every worker will do', () => {
    for (const request of [requestOf({}), requestOf({ sampling: planned }), requestOf({}, 0n)]) {
      expect(violations(request, nodesWith([], []))).toEqual([]);
      expect(askedText(runOf(), request).sampling).toBeUndefined();
    }
  });

  it('replaces all of the plan, but what it leaves out is the plan', () => {
    expect(askedText(runOf(), own)).toMatchObject({
      sampling: { policy: own.runtime?.sampling, seed: 0n },
      stop: ['END'],
    });
    expect(askedText(runOf(), requestOf({ stop: ['.'] }, 9n))).toMatchObject({
      sampling: { policy: planned, seed: 9n },
      stop: ['.'],
    });
  });
});

it('a plan with penalties tells the stages of each prompt, that of a ONE_SHOT run too', () => {
  const policy = SamplingPolicy.create({ repeatPenaltyMillis: 1100 });
  expect(askedText(runOf(policy), requestOf({})).sampling).toEqual({ policy, seed: 0n });
  expect(ownText(runOf(policy))).toMatchObject({ prompt: 'own', sampling: { policy, seed: 0n }, stop: ['END'] });
  expect(ownText(runOf()).sampling).toBeUndefined();
});
