import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeRealModel } from '../gguf/real-model.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { stageplane } from './child.js';

const folder = temporaryFolder(afterAll);
/** Nobody listens here. */
const NOWHERE = '127.0.0.1:1';

function nodesFile(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const three = nodesFile(
  'three.yaml',
  '[{name: big, cores: 16, devices: [{id: cpu, memory: 64GiB}]},' +
    ' {name: small, count: 2, cores: 8, devices: [{id: cpu, memory: 24GiB}]}]',
);

const ask = (...words: string[]) => stageplane(['plan', ...words, '--orchestrator', NOWHERE]);

describe('plan --model --nodes', () => {
  it('needs neither a file nor an orchestrator', async () => {
    const { code, stdout, stderr } = await ask('--model', 'Llama3.1:70B', '--nodes', three);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('llama3.1:70b@q4_k_m, 80 layers of width 8192');
    expect(stdout).toContain('\nengine:   llama.cpp on cpu, 4096 tokens of context\n');
    expect(stdout).toMatch(/\n +0 {2}big \(2\) +\[0, 80\) +█+ +16 +39\.6 GiB/);
  });

  it('uses several nodes where one is too small', async () => {
    const { code, stdout } = await ask('--model', 'gpt-oss:120b', '--nodes', three, '--json');
    expect(code).toBe(0);
    const { plan, report } = JSON.parse(stdout);
    const stages: { layerStart: number; layerEndExclusive: number }[] = plan.plan.stages;
    expect(stages.length).toBeGreaterThan(1);
    expect(stages.at(-1)!.layerEndExclusive).toBe(36);
    // Every other layer has a window.
    expect(stages.every(({ layerStart = 0 }) => layerStart % 2 === 0)).toBe(true);
    expect(report.candidates.length).toBeGreaterThan(1);
  });

  it('says what is missing when nothing fits', async () => {
    const { code, stderr } = await ask('--model', 'llama3.1:405b', '--nodes', three);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^stageplane: the plan was rejected, INSUFFICIENT_MEMORY: the model needs \d+ GiB/);
    expect(stderr).toContain('hint: there would be a plan: ');
  });

  it('places stages on nodes that the file names', async () => {
    const flags = ['--place', '0=small-1,1=small-2', '--model', 'llama3.1:8b@q8_0', '--nodes', three];
    const { code, stdout } = await ask(...flags);
    expect(code).toBe(0);
    expect(stdout).toMatch(/small-1 \(3\) +\[0, 16\)/);
    const stranger = await ask('--place', '0=huge', '--model', 'llama3.1:8b', '--nodes', three);
    expect([stranger.code, stranger.stderr]).toEqual([
      2,
      expect.stringContaining('there is no node "huge"; the known'),
    ]);
  });

  it('takes the device of an engine that is not in RAM', async () => {
    const path = nodesFile(
      'gpu.yaml',
      '[{name: gpu, cores: 8, devices: [{id: "cuda:0", memory: 80GiB}], engines: [{name: llama.cpp}]}]',
    );
    const { code, stdout } = await ask('--model', 'llama3.1:70b', '--nodes', path);
    expect(code).toBe(0);
    expect(stdout).toContain('engine:   llama.cpp on cuda:0');
  });

  it('says of a described node what it would of a real one', async () => {
    const words = ['--explain-node', 'big', '--exclude', 'small-1', '--model', 'llama3.1:8b', '--nodes', three];
    const { code, stdout } = await ask(...words);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^node: big \(2\), schedulable\nused: stage 0 with layers \[0, 32\) on cpu, /);
  });

  it('plans a file for nodes that are not there', async () => {
    const file = writeRealModel('llama8b', folder)[0]!;
    const { code, stdout } = await ask(file, '--nodes', three);
    expect(code).toBe(0);
    expect(stdout).toContain(`Meta Llama 3.1 8B Instruct, 32 layers of width 4096, ${file}`);
  });
});

describe('plan --model', () => {
  it('is about the nodes of the orchestrator when no others are described', async () => {
    const { address } = await runOrchestrator();
    await ScriptedAgent.join(address, 'alpha', {
      engines: [{ name: 'llama.cpp', build: 'b', deviceIds: ['cpu'], features: [] }],
    });
    const words = ['plan', '--model', 'smollm2:135m', '--place', '0=alpha', '--orchestrator', address];
    const { code, stdout, stderr } = await stageplane(words);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/alpha \(2\) +\[0, 30\)/);
    const elsewhere = await ask('--model', 'smollm2:135m');
    expect(elsewhere.code).toBe(5);
  });
});

describe('what cannot be planned', () => {
  it('is said with the flag or the line that is to blame', async () => {
    const broken = nodesFile('broken.yaml', '- name: a\n  devices: [{id: cpu, memory: lots}]\n');
    const cases: readonly (readonly [readonly string[], string])[] = [
      [[], '<file>: is missing; name a file, or a well-known model with --model, such as --model llama3.1:70b'],
      [['m.gguf', '--model', 'llama3.1:8b'], '--model: cannot be combined with a file; leave out one of them'],
      [
        ['--model', 'mistral:8b', '--nodes', three],
        '--model: "mistral:8b" is no well-known model; choose one of mistral:7b',
      ],
      [
        ['--model', 'mistral:7b', '--nodes', broken],
        `${broken}, line 2, nodes[0].devices[0].memory: "lots" is no size; write one such as 24GB or 24GiB`,
      ],
      [['--model', 'mistral:7b', '--nodes', join(folder, 'no.yaml')], '--nodes: "'],
      [[join(folder, 'no.gguf'), '--nodes', three], '<file>: '],
    ];
    for (const [words, sentence] of cases) {
      const { code, stderr } = await ask(...words);
      expect([code, stderr.slice(0, sentence.length + 12)]).toEqual([2, `stageplane: ${sentence}`]);
    }
  });
});
