import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { examinationView } from '../../src/cli/format/examination-view.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { stageplane } from './child.js';

describe('doctor', () => {
  it('exits with 0 beside a running orchestrator, and compares clocks with it', async () => {
    const { address, dataFolder } = await runOrchestrator();
    const words = ['doctor', '--data', dataFolder, '--listen', address, '--orchestrator', address, '--json'];
    const { code, stdout } = await stageplane(words);
    const { checks } = JSON.parse(stdout);
    const result = (name: string) => checks.find((check: { name: string }) => check.name === name);
    expect(result('in use').message).toContain(`in use by process ${process.pid}`);
    expect(result('address')).toMatchObject({ result: 'ok', message: `${address} is held by the orchestrator itself` });
    expect(result('database').message).toContain('; log of ');
    expect(result('orchestrator').message).toMatch(/answers; its clock is \d+\.\d s /);
    expect(code).toBe(0);
  });

  it('exits with 1 when something failed, and says what to do below it', async () => {
    const data = join(temporaryFolder(), 'data');
    const { code, stdout } = await stageplane(['doctor', '--role', 'agent', '--data', data, '--models', '/no/such']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^models {2,}FAILED {3}\/no\/such cannot be read [\s\S]+\n {20,}let this user read it/m);
    expect(stdout).toMatch(/\n\d+ ok, \d+ with a warning, 1 failed, \d+ skipped\n$/);
  });
});

it('the picture of an examination has a line per check, and advice where it is due', () => {
  const view = examinationView([
    { name: 'short', finding: { kind: 'ok', message: 'fine' } },
    { name: 'a longer one', finding: { kind: 'warning', message: 'odd', advice: 'look at it' } },
  ]);
  expect(view.split('\n')).toEqual([
    'short         ok       fine',
    'a longer one  WARNING  odd',
    '                       look at it',
    '',
    '1 ok, 1 with a warning, 0 failed, 0 skipped',
  ]);
});
