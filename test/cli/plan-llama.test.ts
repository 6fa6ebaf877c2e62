import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { smallArchitectures, writeArchitectureModel } from '../gguf/slice/architecture-model.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { stageplane } from './child.js';

const folder = temporaryFolder(afterAll);

/** A real orchestrator, alpha and beta of 4 cores each whose builds are given, and 20 layers that are cut at multiples of 6. */
async function pool(...builds: readonly string[]) {
  const { address } = await runOrchestrator();
  for (const [at, build] of builds.entries()) {
    await ScriptedAgent.join(address, ['alpha', 'beta'][at]!, {
      engines: [{ name: 'llama.cpp', build, deviceIds: ['cpu'], features: [] }],
    });
  }
  const file = join(folder, 'gemma3.gguf');
  await writeArchitectureModel(file, 'gemma3', smallArchitectures.gemma3);
  return (...flags: string[]) =>
    stageplane(['plan', file, '--engine', 'llama.cpp', ...flags, '--orchestrator', address]);
}

describe('plan --engine llama.cpp', () => {
  it('shows allowed cuts, the threads of each stage and how exact it is', async () => {
    const plan = await pool('zen4', 'haswell');
    const { code, stdout } = await plan('--stages', '2', '--max-tokens', '5', '--temperature', '0.25');
    expect(code).toBe(0);
    expect(stdout).toContain('\nsettings: micro-batch 128, sessions 1, KV cache F16, flash attention off, seed 0\n');
    expect(stdout).toContain('\nsampling: temperature 0.25, all tokens\n');
    expect(stdout).toContain('\nfidelity: mixed\n');
    expect(stdout).toMatch(
      /\n +0 {2}\w+ \(\d\) +\[0, (6|12)\) +[█·]+ +4 {2}.*\n +1 {2}\w+ \(\d\) +\[\1, 20\) +[█·]+ +4 {2}.*\n/,
    );
  });

  it('is exact on one build, and names the node and both builds otherwise', async () => {
    const same = await pool('zen4', 'zen4');
    const { stdout } = await same('--stages', '2', '--fidelity', 'exact', '--threads', '2', '--json');
    const { plan, report } = JSON.parse(stdout);
    expect(report.fidelity).toBe('exact');
    expect(plan.settings).toMatchObject([
      { fidelity: 'FIDELITY_EXACT', threads: 2 },
      { fidelity: 'FIDELITY_EXACT', threads: 2 },
    ]);
    const mixed = await pool('zen4', 'haswell');
    const { code, stderr } = await mixed(
      '--fidelity',
      'exact',
      '--place',
      '0=alpha,1=beta',
      '--layers',
      '0=0-12,1=12-20',
    );
    expect(code).toBe(3);
    expect(stderr).toContain('node "beta" runs build haswell of engine "llama.cpp", node "alpha" build zen4:');
  });

  it('says where the model can be cut, and how many cores there are', async () => {
    const plan = await pool('zen4', 'zen4');
    const cut = await plan('--place', '0=alpha,1=beta', '--layers', '0=0-7,1=7-20');
    expect([cut.code, cut.stderr.split('\n')[0]]).toEqual([
      3,
      expect.stringMatching(/MODEL_STAGE_LAYOUT_MISMATCH: stage 1 begins at layer 7, .*begin it at 6 or 12$/),
    ]);
    const threads = await plan('--place', '0=alpha,1=alpha', '--layers', '0=0-6,1=6-20', '--threads', '3', '--json');
    expect(threads.code).toBe(3);
    expect(JSON.parse(threads.stdout).rejection).toMatchObject({
      kind: 'PLAN_REJECTION_KIND_NODE_NOT_SCHEDULABLE',
      message: expect.stringContaining('node "alpha" has 4 cores: 2 stages of 3 threads need 6; ask for fewer threads'),
    });
  });
});
