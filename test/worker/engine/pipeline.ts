import { BoundaryBundle } from '../../../src/worker/engine/boundary-bundle.js';
import { inclusiveRange } from '../../../src/worker/engine/layer-range.js';
import { LoadRequest } from '../../../src/worker/engine/load.js';
import type { Recipe } from '../../../src/worker/engine/recipe.js';
import type { ShardEngine } from '../../../src/worker/engine/shard-engine.js';
import type { StepResult } from '../../../src/worker/engine/step-result.js';
import { DecodeRequest, PrefillRequest } from '../../../src/worker/engine/steps.js';
import type { TokenOutput } from '../../../src/worker/engine/token-output.js';

export interface TestModel {
  readonly path: string;
  readonly layers: number;
}

/** A load request for the half-open layers of a stage. */
export function stageOf(model: TestModel, start: number, end: number, recipe: Partial<Recipe> = {}): LoadRequest {
  return new LoadRequest({
    artifactPath: model.path,
    ...inclusiveRange(start, end),
    totalLayers: model.layers,
    recipe,
  });
}

/** Loads one engine per stage; `cuts` are the layers at which a new stage starts. */
export async function pipelineOf(
  make: () => ShardEngine,
  model: TestModel,
  cuts: readonly number[],
  recipe: Partial<Recipe> = {},
): Promise<ShardEngine[]> {
  const bounds = [0, ...cuts, model.layers];
  const stages = bounds.slice(1).map((end, index) => stageOf(model, bounds[index]!, end, recipe));
  const engines = stages.map(() => make());
  for (const [index, engine] of engines.entries()) {
    const { status } = await engine.load(stages[index]!);
    if (status.code !== 'OK') throw new Error(status.message);
  }
  return engines;
}

/** Greedy tokens of a prompt: one prefill, then decodes, through all stages in order. */
export async function generate(
  stages: readonly ShardEngine[],
  prompt: readonly number[],
  count: number,
  sessionId = '1',
) {
  const tokens: number[] = [];
  const step = { sessionId, routeEpoch: 1 };
  for (let index = 0; index < count; index++) {
    const position = index === 0 ? 0 : prompt.length + index - 1;
    const fields = { ...step, position, idempotencyStep: index };
    let result: StepResult | undefined;
    for (const engine of stages) {
      const input = result?.output instanceof BoundaryBundle ? result.output : undefined;
      result =
        index === 0
          ? await engine.prefill(new PrefillRequest(input ? { ...fields, input } : { ...fields, tokenIds: prompt }))
          : await engine.decode(
              new DecodeRequest(input ? { ...fields, input } : { ...fields, tokenId: tokens.at(-1)! }),
            );
      if (result.status.code !== 'OK') throw new Error(`${result.status.code}: ${result.status.message}`);
    }
    tokens.push((result!.output as TokenOutput).tokenId);
  }
  return tokens;
}
