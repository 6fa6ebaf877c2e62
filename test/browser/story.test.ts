import { expect, test } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunPhase } from '../../gen/stageplane/v1/run.js';
import { streamCall, unaryCall } from '../../src/grpc/client.js';
import { Cluster } from '../e2e/cluster.js';
import { watchUntil } from '../support/running-orchestrator.js';
import { describeInBrowser, screenshot } from './browser.js';

const away = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED_ENCODING/;

describeInBrowser('a run in the browser', (browser) => {
  test('is planned and created by keyboard alone, followed to its fault without a reload, and forgotten', async () => {
    const cluster = await Cluster.start(['alpha', 'beta'], { ownWorkers: true });
    const page = await browser.open(cluster.httpUrl!);
    await page.getByText('2 of 2 nodes take stages').waitFor();

    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent.trim()')).toBe('Skip to the page');
    const tabTo = async (wanted: string) => {
      for (let presses = 0; presses < 40; presses++) {
        if ((await page.evaluate(nameOfFocus)) === wanted) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`no press of Tab leads to ${wanted}`);
    };
    await tabTo('Plan');
    await page.keyboard.press('Enter');
    await tabTo('model');
    await page.keyboard.type(cluster.model);
    await tabTo('minStages');
    await page.keyboard.type('2');
    await tabTo('engine');
    await page.keyboard.type('fixture');
    await tabTo('Plan, and start nothing');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'It fits' }).waitFor();
    await tabTo('Create this run');
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'Run 1' }).waitFor();
    await page.locator('.page-head').getByText('running', { exact: true }).waitFor();
    await page.locator('[data-stage="1"]').getByText('ready', { exact: true }).waitFor();
    process.kill(await cluster.workerOf(1n, 1), 'SIGKILL');
    await page.getByRole('heading', { name: 'Why it ended' }).waitFor();
    const fault = page.getByRole('region', { name: 'Why it ended' });
    expect(await fault.textContent()).toMatch(/SIGKILL.*worker exited.*stage 1 on/);
    await page.locator('.page-head').getByText('faulted', { exact: true }).waitFor();

    await tabTo('Forget run');
    await page.keyboard.press('Enter');
    // The harmless answer has the focus.
    expect(await page.evaluate(nameOfFocus)).toBe('Keep it');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing has been run yet').waitFor();
  });

  test('says that the orchestrator is away, and misses no event when it is back', async () => {
    const cluster = await Cluster.start(['alpha', 'beta'], { ownWorkers: true });
    const runId = await cluster.create('serving', 2);
    await watchUntil(cluster.client, runId, RunPhase.RUN_PHASE_RUNNING);
    const run = await browser.open(`${cluster.httpUrl}/runs/1`, { mayComplain: away });
    const events = await browser.open(`${cluster.httpUrl}/events`, { mayComplain: away });
    await run.getByRole('heading', { name: 'Pipeline' }).waitFor();
    await events.locator('[data-revision]').first().waitFor();

    await cluster.kill('orchestrator', 'SIGKILL');
    await run.getByText('Connection lost since').waitFor();
    await events.getByText('Connection lost since').waitFor();
    await screenshot(events, 'away');
    await cluster.startOrchestrator();
    await run.getByText('Connection lost since').waitFor({ state: 'detached' });
    await events.getByText('Connection lost since').waitFor({ state: 'detached' });
    await unaryCall(cluster.client, Service.stopRun, { runId });
    await watchUntil(cluster.client, runId, RunPhase.RUN_PHASE_DONE);

    const told: string[] = [];
    for await (const { update } of streamCall(cluster.client, Service.watchRun, { runId, afterRevision: 0n })) {
      if (update?.$case === 'event') told.unshift(String(update.value.revision));
    }
    const shown = "[...document.querySelectorAll('[data-revision]')].map((one) => one.dataset.revision)";
    for (const page of [run, events]) await expect.poll(() => page.evaluate(shown), { timeout: 30_000 }).toEqual(told);
    await run.locator('.page-head').getByText('stopped', { exact: true }).waitFor();
  });
});

/** What the element with the focus is called: by its id where it is a field. */
const nameOfFocus = `(({ id, textContent }) => id || textContent.trim())(document.activeElement)`;
