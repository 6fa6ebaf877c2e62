import { expect, test } from 'vitest';
import { AdminServiceService as Admin } from '../../gen/stageplane/v1/admin_service.js';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { unaryCall } from '../../src/grpc/client.js';
import { sampleFacts, sampleHello, samplePlan } from '../core/machine/samples.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { credentialsOf, runSecured } from '../support/secured-orchestrator.js';
import { describeInBrowser, overflow, screenshot, violations, widths } from './browser.js';

const http = '127.0.0.1:0';

/** What a machine that means ill may say of itself. */
const hostile = {
  markup: '<img src=x onerror=alert(1)>',
  escapes: 'a\u001b[31mred\u0007',
  backwards: 'file\u202egpj.exe\u2066',
  long: 'x'.repeat(200),
};

describeInBrowser('what strangers say', (browser) => {
  test('is shown as text, cut by nothing and reaching over nothing', async () => {
    const { httpUrl, client, address } = await runOrchestrator({ http });
    const { descriptor, ...hello } = sampleHello('alpha', {});
    const labels = { [hostile.markup]: hostile.backwards, long: hostile.long, escape: hostile.escapes };
    const devices = descriptor!.devices.map((device) => ({ ...device, name: `${hostile.markup}${hostile.long}` }));
    const said = { ...descriptor!, labels, devices, agentVersion: hostile.escapes, operatingSystem: hostile.backwards };
    const agent = await ScriptedAgent.join(address, 'alpha', { ...hello, descriptor: said });
    const facts = { ...sampleFacts, modelId: `${hostile.markup}${hostile.backwards}${hostile.long}` };
    await unaryCall(client, Service.createRun, { requestId: 'r', plan: { ...samplePlan([2n]), facts } });
    const { deliveryId } = await agent.next('provision');
    agent.say({ $case: 'ack', value: { deliveryId } });
    const message = `${hostile.markup} ${hostile.escapes} ${hostile.backwards} ${hostile.long}`;
    const fault = { reason: StageFaultReason.STAGE_FAULT_REASON_LOAD_FAILED, message, logTail: [message] };
    agent.report({ runId: 1n, stageIndex: 0, generation: 1 }, { $case: 'fault', value: fault });
    await agent.confirmStop();

    const page = await browser.open(httpUrl!, { width: widths.narrow });
    page.on('dialog', () => expect.unreachable('a script of a stranger ran'));
    const places = [
      ['/', 'alpha'],
      ['/runs', 'Run 1'],
      ['/runs/1', 'Why it ended'],
      ['/events', 'events'],
    ] as const;
    for (const [path, ready] of places) {
      await page.goto(`${httpUrl}${path}`);
      await page.getByText(ready).first().waitFor();
      await page.getByText(hostile.markup).first().waitFor();
      const text = String(await page.evaluate('document.body.textContent'));
      expect([path, [...'\u001b\u0007\u202e\u2066'].filter((one) => text.includes(one))]).toEqual([path, []]);
      expect([path, await page.locator('main img').count()]).toEqual([path, 0]);
      expect([path, await overflow(page)]).toEqual([path, 0]);
      await screenshot(page, `hostile-${path.slice(1).replace('/', '-') || 'pool'}`);
    }
  });
});

describeInBrowser('an empty pool', (browser) => {
  test('says on each page what to do next, and so does a planner without nodes', async () => {
    const { httpUrl } = await runOrchestrator({ http });
    const page = await browser.open(httpUrl!, { mayComplain: /404/ });
    await page.getByText('stageplane agent --orchestrator').waitFor();
    await screenshot(page, 'empty-pool');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.getByText('Nothing has been run yet').waitFor();
    await page.getByRole('link', { name: 'Events' }).click();
    await page.getByText('Nothing has happened yet').waitFor();
    await page.getByRole('link', { name: 'Plan', exact: true }).click();
    await page.getByLabel('Model').fill('/nowhere.gguf');
    await page.getByRole('button', { name: 'Plan, and start nothing' }).click();
    await page.getByText('/nowhere.gguf').last().waitFor();
    await screenshot(page, 'no-model');
  });
});

describeInBrowser('where a key is needed', (browser) => {
  test('a viewer looks and is offered nothing else, a launcher may plan and stop, and a revoked key leads out', async () => {
    const { httpUrl, admin, address, enrol, call } = await runSecured({ http });
    const agent = (await enrol('agent', 'alpha')).credentials;
    await ScriptedAgent.join(address, 'alpha', { instanceId: 'alpha' }, credentialsOf(agent));
    const launcher = call(OrchestratorServiceClient, (await enrol('launcher', 'lena')).credentials);
    await unaryCall(launcher, Service.createRun, { requestId: 'r', plan: samplePlan([2n]) });
    const page = await browser.open(`${httpUrl}/runs/1`, { mayComplain: /401|ERR_INCOMPLETE_CHUNKED/ });
    const signIn = async (role: string) => {
      const { key, created } = await unaryCall(admin, Admin.createApiKey, { name: role, role, ttlMillis: 0n });
      await page.getByLabel('Key').fill(key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Pipeline' }).waitFor();
      return created!.keyId;
    };
    const offered = async () => [
      ...(await page.getByRole('navigation').getByRole('link').allTextContents()),
      ...(await page.getByRole('button').allTextContents()),
    ];

    await signIn('viewer');
    expect(await offered()).toEqual(['Pool', 'Runs', 'Events', 'Sign out']);
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'viewer');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();

    const keyId = await signIn('launcher');
    expect(await offered()).toEqual(['Pool', 'Runs', 'Plan', 'Events', 'Sign out', 'Stop run']);
    await unaryCall(admin, Admin.revokeApiKey, { keyId });
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('only an admin is offered to keep nodes free', async () => {
    const { httpUrl, admin, enrol, address } = await runSecured({ http });
    const agent = (await enrol('agent', 'alpha')).credentials;
    await ScriptedAgent.join(address, 'alpha', { instanceId: 'alpha' }, credentialsOf(agent));
    for (const role of ['viewer', 'launcher', 'admin']) {
      const page = await browser.open(httpUrl!, { mayComplain: /401/ });
      const { key } = await unaryCall(admin, Admin.createApiKey, { name: role, role, ttlMillis: 0n });
      await page.getByLabel('Key').fill(key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      const card = page.locator('[data-node]');
      await card.waitFor();
      const offered = await card.getByRole('button').allTextContents();
      expect([role, offered]).toEqual([role, role === 'admin' ? ['Cordon', 'Drain'] : []]);
    }
  });

  test('nothing is shown before one is given, and a wrong one is refused in words', async () => {
    const { httpUrl } = await runSecured({ http });
    for (const scheme of ['light', 'dark'] as const) {
      const page = await browser.open(`${httpUrl}/runs/1`, { scheme, mayComplain: /401/ });
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(await page.getByRole('link', { name: 'Runs' }).count()).toBe(0);
      expect(await violations(page)).toEqual([]);
      await page.getByLabel('Key').fill('no-such-key');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('this key is unknown').waitFor();
      await screenshot(page, `sign-in-${scheme}`);
      expect(await page.context().cookies()).toEqual([]);
    }
  });
});
