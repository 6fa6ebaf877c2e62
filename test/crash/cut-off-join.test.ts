import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Child, stageplane } from '../cli/child.js';
import { temporaryFolder } from '../support/temporary-folder.js';

test.each(['launcher', 'agent'])(
  'who redeemed a token (%s) and got no answer, since the orchestrator died, joins with the same token again',
  async (role) => {
    const folder = temporaryFolder();
    const environment = { XDG_RUNTIME_DIR: temporaryFolder() };
    const data = join(folder, 'orchestrator');
    await stageplane(['init', '--data', data], environment);
    const start = async (more: Record<string, string>, listen = '127.0.0.1:0', enroll = '127.0.0.1:0') => {
      const words = ['orchestrator', '--json', '--listen', listen, '--enroll-listen', enroll, '--data', data];
      const child = new Child(words, { ...environment, ...more });
      onTestFinished(() => void child.process.kill('SIGKILL'));
      await child.shown('stdout', '\n');
      return { child, ...(JSON.parse(child.stdout) as { address: string; enrollAddress: string }) };
    };
    // The first answer is that of `token create`.
    const first = await start({ STAGEPLANE_FAIL_POINT: 'before-answer:2' });
    const token = (await stageplane(['token', 'create', '--data', data, '--role', role], environment)).stdout.trim();
    const own = join(folder, 'own');
    const where = ['--orchestrator', first.address, '--enroll', first.enrollAddress, '--name', 'lena'];
    const pki = role === 'agent' ? join(own, 'pki') : own;
    const ask = (credentials: string) =>
      role === 'agent'
        ? new Child(['agent', ...where, '--data', credentials, '--join', token], environment)
        : new Child(['join', token, ...where, '--credentials', credentials], environment);

    const cut = ask(own);
    onTestFinished(() => void cut.process.kill('SIGKILL'));
    await first.child.end();
    if (role === 'agent') cut.process.kill('SIGKILL');
    await cut.end();
    expect(statSync(join(pki, 'joining.pem')).mode & 0o777).toBe(0o600);
    expect(existsSync(join(pki, role === 'agent' ? 'agent.pem' : 'client.pem'))).toBe(false);

    await start({}, first.address, first.enrollAddress);
    const other = await ask(join(folder, 'thief')).end();
    expect(other.stderr).toContain('has admitted "lena" already');
    const again = ask(own);
    onTestFinished(() => void again.process.kill('SIGKILL'));
    if (role === 'agent') await again.shown('stderr', 'reconciled');
    else expect(await again.end()).toMatchObject({ code: 0 });
    expect(existsSync(join(pki, 'joining.pem'))).toBe(false);
  },
  120_000,
);
