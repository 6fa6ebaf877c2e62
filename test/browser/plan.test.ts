import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { Cluster } from '../e2e/cluster.js';
import { afterFile } from '../support/after-file.js';
import { describeInBrowser } from './browser.js';

describeInBrowser('what is asked of a placement', (browser) => {
  const finished = afterFile();
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start(['alpha', 'beta'], { finished, ownWorkers: true });
  }, 120_000);

  const planPage = async (options?: Parameters<typeof browser.open>[1]) => {
    const page = await browser.open(`${cluster.httpUrl}/plan`, options);
    await page.getByLabel('Model').fill(cluster.model);
    await page.getByLabel('Engine', { exact: true }).selectOption('fixture');
    return page;
  };

  test.each([
    { first: 'alpha', second: 'beta' },
    { first: 'beta', second: 'alpha' },
  ])('stage 0 is on $first when it is pinned there', async ({ first, second }) => {
    const page = await planPage();
    await page.getByText('Limits, pins').click();
    await page.getByLabel('Stages at least').fill('2');
    await page.getByRole('group', { name: first }).getByLabel('Holds stage').fill('0');
    await createRun(page);
    expect(await pipeline(page)).toEqual([`${first} [0, 4)`, `${second} [4, 8)`]);
  });

  test('stages that are given are on their nodes, with their layers', async () => {
    const page = await planPage();
    await page.getByLabel('Placement').selectOption('given');
    for (const [at, node, layers] of [
      [0, 'beta', '0-3'],
      [1, 'alpha', '3-8'],
    ] as const) {
      await page.getByRole('button', { name: 'Add a stage' }).click();
      await page.getByLabel(`Stage ${at} on`).selectOption(node);
      await page.getByLabel('Layers').nth(at).fill(layers);
    }
    await createRun(page);
    expect(await pipeline(page)).toEqual(['beta [0, 3)', 'alpha [3, 8)']);
  });

  test('what cannot be is refused in the words of the planner', async () => {
    const page = await planPage({ mayComplain: /400/ });
    await page.getByText('Limits, pins').click();
    await page.getByRole('group', { name: 'alpha' }).getByLabel('Holds stage').fill('0');
    await page.getByRole('group', { name: 'beta' }).getByLabel('Holds stage').fill('0');
    await submit(page);
    await page
      .getByText(/stage 0 is pinned to node \d and to node \d/)
      .first()
      .waitFor();
  });

  test('a field that is wrong is shown, also where it was put away', async () => {
    const page = await planPage();
    const pin = page.getByRole('group', { name: 'alpha' }).getByLabel('Holds stage');
    await page.getByText('Limits, pins').click();
    await pin.fill('the first');
    await page.getByText('Limits, pins').click();
    expect(await pin.isVisible()).toBe(false);
    await submit(page);
    await pin.waitFor();
    expect(await pin.evaluate('document.activeElement.id')).toBe(await pin.getAttribute('id'));
  });
});

async function submit(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Plan, and start nothing' }).click();
}

async function createRun(page: Page): Promise<void> {
  await submit(page);
  await page.getByRole('button', { name: 'Create this run' }).click();
  await page.getByRole('heading', { name: 'Pipeline' }).waitFor();
}

/** Of each stage its node and its layers. */
async function pipeline(page: Page): Promise<string[]> {
  const stages = await page.locator('[data-stage]').all();
  return Promise.all(
    stages.map(async (stage) => {
      const [node, layers] = await Promise.all([
        stage.locator('.stop-node').textContent(),
        stage.getByText('layers').textContent(),
      ]);
      return `${node} ${layers?.replace('layers ', '')}`;
    }),
  );
}
