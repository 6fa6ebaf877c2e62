import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  GenerateRequest,
  type OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { RuntimeConfig } from '../../gen/stageplane/v1/plan.js';
import { RunPhase } from '../../gen/stageplane/v1/run.js';
import { streamCall, unaryCall } from '../../src/grpc/client.js';
import { Cluster } from '../e2e/cluster.js';
import { storyModel } from '../e2e/story.js';
import { watchUntil } from '../support/running-orchestrator.js';
import { describeInBrowser, overflow, screenshot, type TestBrowser, violations, widths } from './browser.js';

describeInBrowser('each page', (browser) => {
  let cluster: Cluster;
  let answering: AbortController;
  beforeAll(async () => {
    ({ cluster, answering } = await busyCluster((end) => void ends.push(end)));
  }, 120_000);
  const ends: (() => void | Promise<void>)[] = [];
  afterAll(async () => {
    answering?.abort();
    for (const end of ends.reverse()) await end();
  });

  const pages = [
    { name: 'pool', path: '/', ready: 'text=3 of 4 nodes take stages' },
    { name: 'runs', path: '/runs', ready: 'text=faulted' },
    { name: 'run', path: '/runs/1', ready: 'text=under way', act: openLog },
    { name: 'fault', path: '/runs/2', ready: 'text=Why it ended' },
    { name: 'events', path: '/events', ready: 'text=events' },
    { name: 'plan', path: '/plan', ready: 'text=Would it fit?', act: plan },
    { name: 'plan-given', path: '/plan', ready: 'text=Would it fit?', act: giveStages },
    { name: 'no-plan', path: '/plan', ready: 'text=Would it fit?', act: planTooMuch },
    { name: 'no-such-page', path: '/runs/99', ready: 'text=there is no run 99', mayComplain: /404/ },
  ];

  test.each(pages)('$name is readable for everybody, in light and dark, and on a phone', async (page) => {
    for (const look of looks) await examine(browser, cluster, page, look);
  });

  async function openLog(page: Page): Promise<void> {
    await page.locator('summary').getByText('Stage 1 on').click();
    await page.getByText('"pid":').waitFor();
  }

  async function plan(page: Page): Promise<void> {
    await page.getByLabel('Model').fill(cluster.model);
    await page.getByLabel('Engine', { exact: true }).selectOption('fixture');
    await page.getByRole('button', { name: 'Plan, and start nothing' }).click();
    await page.getByRole('heading', { name: 'It fits' }).waitFor();
  }

  async function giveStages(page: Page): Promise<void> {
    await page.getByLabel('Placement').selectOption('given');
    for (const layers of ['0-3', '3-8']) {
      await page.getByRole('button', { name: 'Add a stage' }).click();
      await page.getByLabel('Layers').last().fill(layers);
    }
    await page.getByText('Engine and answers').click();
    await plan(page);
  }

  async function planTooMuch(page: Page): Promise<void> {
    await page.getByLabel('Model').fill(cluster.model);
    await page.getByLabel('Conversations').fill('4096');
    await page.getByText('Limits, pins').click();
    await page.getByLabel('Leave free of each device').fill('99');
    await page.getByRole('button', { name: 'Plan, and start nothing' }).click();
    await page.getByRole('heading', { name: 'No plan' }).waitFor();
  }
});

const looks = [
  { name: 'light', scheme: 'light', width: widths.wide },
  { name: 'dark', scheme: 'dark', width: widths.wide },
  { name: 'narrow', scheme: 'light', width: widths.narrow },
] as const;

interface ExaminedPage {
  readonly name: string;
  readonly path: string;
  readonly ready: string;
  readonly act?: (page: Page) => Promise<void>;
  readonly mayComplain?: RegExp;
}

async function examine(browser: TestBrowser, cluster: Cluster, asked: ExaminedPage, look: (typeof looks)[number]) {
  const { name, path, ready, act, mayComplain } = asked;
  const page = await browser.open(`${cluster.httpUrl}${path}`, { ...look, ...(mayComplain && { mayComplain }) });
  await page.locator(ready).first().waitFor();
  await act?.(page);
  await screenshot(page, `${name}-${look.name}`);
  expect([look.name, await overflow(page)]).toEqual([look.name, 0]);
  if (look.name !== 'narrow') expect([look.name, await violations(page)]).toEqual([look.name, []]);
}

/** Three nodes and one that is cordoned, a run that answers, and one that has faulted. */
async function busyCluster(finished: (end: () => void | Promise<void>) => void) {
  const cluster = await Cluster.start(['alpha', 'beta', 'gamma', 'delta'], {
    finished,
    ownWorkers: true,
    agentFlags: ['--label', 'room=lab'],
    tiny: storyModel,
  });
  const { client } = cluster;
  const serving = await cluster.create('serving', 3);
  await watchUntil(client, serving, RunPhase.RUN_PHASE_RUNNING);
  const faulted = await cluster.create('faulted', 2);
  await watchUntil(client, faulted, RunPhase.RUN_PHASE_RUNNING);
  process.kill(await cluster.workerOf(faulted, 1), 'SIGKILL');
  await watchUntil(client, faulted, RunPhase.RUN_PHASE_DONE);
  await unaryCall(client, Service.cordonNode, { nodeId: 5n });
  return { cluster, answering: answerWithoutEnd(client, serving) };
}

/** Asks anew as soon as an answer is whole. */
function answerWithoutEnd(client: OrchestratorServiceClient, runId: bigint): AbortController {
  const over = new AbortController();
  const prompt = { source: { $case: 'inline', value: 'the' } } as const;
  const request = GenerateRequest.fromPartial({ runId, runtime: RuntimeConfig.fromPartial({ prompt, sampling: {} }) });
  const ask = async () => {
    while (!over.signal.aborted) {
      for await (const _ of streamCall(client, Service.generate, request, { signal: over.signal }));
    }
  };
  void ask().catch(() => {});
  return over;
}
