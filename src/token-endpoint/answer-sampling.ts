import { SamplingPolicy } from '../../gen/stageplane/v1/plan.js';
import type { AnswerSampling } from '../../gen/stageplane/v1/token_endpoint.js';
import { penalises } from '../worker/engine/sampling.js';
import { samplingSettings } from '../worker/sampling-object.js';

/** What a launcher asks of one answer; what is absent is the plan's. */
export interface AskedSampling {
  readonly policy?: SamplingPolicy | undefined;
  readonly seed?: bigint | undefined;
}

/** How a run's answers are picked when nobody asks otherwise: its last stage was prepared so. */
export interface PlannedSampling {
  readonly policy: SamplingPolicy | undefined;
  readonly seed: bigint;
}

/** What the stages must be told of one answer; undefined when the last one knows all of it, as it was prepared. */
export function answerSampling(planned: PlannedSampling, asked: AskedSampling = {}): AnswerSampling | undefined {
  const policy = asked.policy ?? planned.policy ?? SamplingPolicy.create();
  const seed = asked.seed ?? planned.seed;
  const isPlanned = seed === planned.seed && isSame(policy, planned.policy ?? SamplingPolicy.create());
  // Penalties look at the prompt, which never reached the last stage.
  return isPlanned && !penalises(samplingSettings(policy, seed)) ? undefined : { policy, seed };
}

function isSame(one: SamplingPolicy, other: SamplingPolicy): boolean {
  const [a, b] = [one, other].map((policy) => SamplingPolicy.encode(policy).finish());
  return Buffer.compare(a!, b!) === 0;
}
