import { expect, test } from 'vitest';
import { Cluster } from '../e2e/cluster.js';
import { describeInBrowser } from './browser.js';

describeInBrowser("a stage's log", (browser) => {
  test('is followed while it is looked at, and says when nobody can be asked for it', async () => {
    const cluster = await Cluster.start(['alpha']);
    await cluster.create('r', 1);
    const page = await browser.open(`${cluster.httpUrl}/runs/1`);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.getByRole('heading', { name: 'Logs' }).waitFor();
    await page.locator('summary').getByText('Stage 0 on alpha').focus();
    const read = () => asked.filter((url) => url.endsWith('/GetStageLog')).length;
    expect(read()).toBe(0);
    await page.keyboard.press('Enter');
    const log = page.locator('.log');
    await log.getByText('waiting for the gate').waitFor();
    expect(await log.textContent()).not.toContain('"pid"');

    cluster.openGate();
    await log.getByText('"pid":').waitFor();
    await cluster.kill('alpha', 'SIGKILL');
    await page.getByText('The agent is away.').waitFor();
  });
});
