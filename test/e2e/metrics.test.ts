import { expect, it, vi } from 'vitest';
import { RuntimeConfig } from '../../gen/stageplane/v1/plan.js';
import { RunMode } from '../../gen/stageplane/v1/planner.js';
import { RunPhase } from '../../gen/stageplane/v1/run.js';
import { complaintsAbout, scrape, seriesSum, seriesValue } from '../support/exposition.js';
import { watchUntil } from '../support/running-orchestrator.js';
import { answerOf, generate } from './ask.js';
import { Cluster } from './cluster.js';

it('/metrics counts the tokens and answers of every run, by the rules', async () => {
  const cluster = await Cluster.start(['alpha', 'beta'], { ownWorkers: true, flags: ['--http', '127.0.0.1:0'] });
  const { client, httpUrl } = cluster;
  const serving = await cluster.create('serving', 2, { contextLength: 64 });
  await watchUntil(client, serving, RunPhase.RUN_PHASE_RUNNING);
  const first = await answerOf(generate(client, serving, 'Why is the sky blue?'));
  await expect(answerOf(generate(client, serving, 'x'.repeat(100)))).rejects.toMatchObject({
    reason: 'PROMPT_TOO_LONG',
  });
  const runtime = RuntimeConfig.fromPartial({ maxTokens: 5, prompt: { source: { $case: 'inline', value: 'Once' } } });
  const oneShot = await cluster.create('one', 2, {}, { mode: RunMode.RUN_MODE_ONE_SHOT, runtime });
  await watchUntil(client, oneShot, RunPhase.RUN_PHASE_DONE);

  const families = await scrape(httpUrl);
  expect(complaintsAbout(families)).toEqual([]);
  expect(seriesValue(families, 'stageplane_generated_tokens_total')).toBe(first.tokenIds.length + 5);
  expect(seriesValue(families, 'stageplane_prompt_tokens_total')).toBe('Why is the sky blue?'.length + 'Once'.length);
  expect(seriesSum(families, 'stageplane_answers_total')).toBe(2);
  expect(seriesValue(families, 'stageplane_answers_total{reason="max_tokens"}')).toBeGreaterThan(0);
  expect(seriesValue(families, 'stageplane_prompts_refused_total{reason="prompt_too_long"}')).toBe(1);
  expect(seriesValue(families, 'stageplane_answers_under_way')).toBe(0);
  expect(seriesValue(families, 'stageplane_time_to_first_token_seconds_count')).toBe(2);
  expect(seriesValue(families, 'stageplane_runs_ended_total{outcome="completed"}')).toBe(1);
  // A heartbeat later it is known what they hold.
  await vi.waitFor(
    async () => {
      const reserved = seriesValue(
        await scrape(httpUrl),
        'stageplane_device_reserved_bytes{node="alpha",device="cpu"}',
      );
      expect(reserved).toBeGreaterThan(0);
    },
    { timeout: 20_000 },
  );
  expect(await cluster.end()).toEqual([]);
});
