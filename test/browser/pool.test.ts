import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunPhase } from '../../gen/stageplane/v1/run.js';
import { unaryCall } from '../../src/grpc/client.js';
import { Cluster } from '../e2e/cluster.js';
import { watchUntil } from '../support/running-orchestrator.js';
import { describeInBrowser, overflow, screenshot, violations, widths } from './browser.js';

describeInBrowser('a node', (browser) => {
  test('is kept free and drained by keyboard alone, and asked about before it is drained', async () => {
    const cluster = await Cluster.start(['alpha'], { ownWorkers: true });
    const runId = await cluster.create('serving', 1);
    await watchUntil(cluster.client, runId, RunPhase.RUN_PHASE_RUNNING);
    const page = await browser.open(cluster.httpUrl);
    const card = page.locator('[data-node="2"]');
    const is = (state: string) => card.locator('.card-head').getByText(state, { exact: true }).waitFor();
    const press = async (name: string) => {
      await card.getByRole('button', { name, exact: true }).focus();
      await page.keyboard.press('Enter');
    };

    await press('Cordon');
    await is('cordoned');
    expect(await focused(page)).toBe('Uncordon');
    await page.keyboard.press('Enter');
    await is('schedulable');

    await press('Drain');
    await expect.poll(() => focused(page)).toBe('Keep it');
    await screenshot(page, 'drain-asked');
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await expect.poll(() => focused(page)).toBe('Drain');
    await is('schedulable');

    await press('Drain');
    await card.getByLabel('End what is left').selectOption('after an hour');
    await page.keyboard.press('Shift+Tab');
    await press('Drain');
    await is('draining');
    await card.getByText('Draining: 1 stage left, until').waitFor();
    await press('Change deadline');
    await card.getByLabel('End what is left').selectOption('at once');
    await press('Change deadline');
    await is('drained');
    const { run } = await unaryCall(cluster.client, Service.getRun, { runId });
    expect(run?.cause?.message).toMatch(/drained/);
    await press('Uncordon');
    await is('schedulable');
  });

  test('whose machine is gone can be forgotten', async () => {
    const cluster = await Cluster.start(['alpha', 'beta'], { ownWorkers: true });
    await cluster.kill('beta', 'SIGKILL');
    const page = await browser.open(cluster.httpUrl, { width: widths.narrow });
    const beta = page.getByRole('group', { name: 'Node beta' });
    await beta.getByRole('button', { name: 'Forget' }).click();
    await screenshot(page, 'forget-asked');
    expect(await overflow(page)).toBe(0);
    await beta.getByRole('button', { name: 'Forget' }).click();
    await beta.waitFor({ state: 'detached' });
    expect(await page.getByRole('group', { name: 'Node alpha' }).count()).toBe(1);
  });

  test('that will not be changed says why, in the words of the orchestrator', async () => {
    const cluster = await Cluster.start(['alpha'], { ownWorkers: true });
    const page = await browser.open(cluster.httpUrl, { mayComplain: /404|ERR_FAILED/ });
    const card = page.getByRole('group', { name: 'Node alpha' });
    await card.waitFor();
    // It learns nothing new: what it shows is from before the node was forgotten.
    await page.route('**/api/ListNodes', (route) => route.abort());
    await cluster.kill('alpha', 'SIGTERM');
    await unaryCall(cluster.client, Service.deleteNode, { nodeId: 2n });
    await card.getByRole('button', { name: 'Cordon' }).click();
    await card.getByText('there is no node 2').waitFor();
    await card.getByRole('button', { name: 'Drain' }).click();
    const answered = page.waitForResponse(/DrainNode/);
    await card.getByRole('button', { name: 'Drain' }).click();
    await answered;
    await card.getByText('there is no node 2').waitFor();
  });
});

const focused = (page: Page) => page.evaluate('document.activeElement.textContent.trim()');
