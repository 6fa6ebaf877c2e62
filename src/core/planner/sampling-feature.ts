import { type EngineOffer, StageFeature } from '../../../gen/stageplane/v1/node.js';
import type { SamplingPolicy } from '../../../gen/stageplane/v1/plan.js';

/** Whether a policy asks for more than temperature and top_k, which every stage that samples can do. */
export function needsSamplingFeature(policy: SamplingPolicy | undefined): boolean {
  if (policy === undefined) return false;
  const { topPMillis, minPMillis, repeatPenaltyMillis, presencePenaltyMillis, frequencyPenaltyMillis } = policy;
  const asked = [topPMillis, minPMillis, repeatPenaltyMillis, presencePenaltyMillis, frequencyPenaltyMillis];
  return asked.some((value) => value !== 0);
}

interface SamplingNode {
  readonly name: string;
  readonly engines: readonly EngineOffer[];
}

/** Why a node's stages would sample otherwise than they are asked to: without a word, if nobody asked before. */
export function samplingObstacle({ name, engines }: SamplingNode, engine: string): string | undefined {
  const offer = engines.find((candidate) => candidate.name === engine);
  if (offer?.features.includes(StageFeature.STAGE_FEATURE_SAMPLING)) return undefined;
  return `the worker of node "${name}" knows no sampling beyond the plan's temperature, top_k and seed: install this version there, or ask for those alone`;
}
