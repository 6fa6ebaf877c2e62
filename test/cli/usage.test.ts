import { describe, expect, it } from 'vitest';
import { version } from '../../src/version.js';
import { stageplane } from './child.js';

describe('words that cannot be used', () => {
  it('are all reported at once', async () => {
    const words = [
      'orchestrator',
      '--listen',
      '0.0.0.0:7070',
      '--heartbeat',
      '5s',
      '--lease',
      '2s',
      '--grace',
      '5parsecs',
    ];
    const { code, stdout, stderr } = await stageplane([...words, '--models', '/nowhere'], {
      STAGEPLANE_LOG_LEVEL: 'loud',
    });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr.split('\n')).toEqual([
      'stageplane: 5 settings cannot be used; correct all of them',
      '  --models: "/nowhere" is no folder on this machine; create it, or name another',
      '  --grace: "5parsecs" is no duration; write one such as 300ms, 5s or 2m',
      '  STAGEPLANE_LOG_LEVEL: "loud" is none of trace, debug, info, warn, error, fatal',
      '  --listen: "0.0.0.0:7070" can be reached from other machines and nothing is authenticated yet; listen on 127.0.0.1, run `stageplane init`, or add --insecure and --trust-network on a network you trust',
      '  --lease: 2s is no longer than the heartbeat, 5s; every lease would end between two heartbeats',
      '',
    ]);
  });

  it('are JSON on stderr with --json', async () => {
    const { code, stdout, stderr } = await stageplane(['run', 'm.gguf', '--layers', '0=0-4', '--json']);
    expect([code, stdout]).toEqual([2, '']);
    const message = 'stage 0 has layers but no node; name its node with --place';
    expect(JSON.parse(stderr)).toEqual({
      code: 'INVALID_ARGUMENT',
      reason: 'INVALID_SETTINGS',
      message: `--layers: ${message}`,
      violations: [{ field: '--layers', message }],
    });
  });

  it.each([
    [['frobnicate'], "stageplane: unknown command 'frobnicate'; see stageplane --help\n"],
    [['run'], "stageplane: missing required argument 'file'; see stageplane run --help\n"],
    [['runs', 'lst'], "stageplane: unknown command 'lst' (Did you mean list?); see stageplane runs --help\n"],
    [['runs', 'get', 'x'], 'stageplane: <id>: "x" is no id; write a number, as the lists show it\n'],
    [
      ['run', 'm.gguf', '--place', '0=a,0=b'],
      'stageplane: --place: "0=a,0=b" names stage 0 twice; give each stage once\n',
    ],
    [
      ['runs', 'get', '1', '2'],
      "stageplane: too many arguments for 'get'. Expected 1 argument but got 2; see stageplane runs get --help\n",
    ],
    [
      ['plan', 'm.gguf', '--temperature', 'hot'],
      'stageplane: --temperature: "hot" is no number; write one such as 0.7, with at most three digits after the point\n',
    ],
    [
      ['plan', 'm.gguf', '--temperature', '4294968'],
      'stageplane: --temperature: "4294968" is too large; write at most 4294967\n',
    ],
    [['plan', 'm.gguf', '--fidelity', 'good'], 'stageplane: --fidelity: "good" is none of fast, exact\n'],
    [['run', 'm.gguf', '--seed', '-1'], 'stageplane: --seed: "-1" is no whole number\n'],
    [['plan', 'm.gguf', '--stages', '513'], 'stageplane: --stages: "513" is too large; write at most 512\n'],
    [
      ['plan', 'm.gguf', '--stages', '3', '--place', '0=a,2=b'],
      'stageplane: --place: stage 1 of the 3 has no node; name its node, or lower --stages\n',
    ],
    [
      ['plan', '--exclude', 'a', 'm.gguf', '--place', '0=b'],
      'stageplane: --exclude: cannot be combined with --place: the one bounds what the orchestrator chooses, the other chooses; leave out one of them\n',
    ],
    [
      ['run', 'm.gguf', '--stages', '2', '--max-stages', '3'],
      'stageplane: --max-stages: cannot be combined with --stages, which is both bounds at once; leave out one of them\n',
    ],
    [
      ['plan', 'm.gguf', '--min-stages', '4', '--max-stages', '2'],
      'stageplane: --min-stages: 4 is more than --max-stages, 2\n',
    ],
    [
      ['plan', 'm.gguf', '--pin', '0=a', '--pin', '1=b,0=c'],
      'stageplane: --pin: names stage 0 twice; give each stage one node\n',
    ],
    [
      ['plan', 'm.gguf', '--objective', 'cheapest'],
      'stageplane: --objective: "cheapest" is none of fastest, throughput, fewest-nodes, balanced\n',
    ],
    [['run', 'm.gguf', '--until', 'never'], 'stageplane: --until: "never" is none of ready, done\n'],
  ])('%j', async (words, stderr) => {
    expect(await stageplane(words)).toEqual({ code: 2, stdout: '', stderr });
  });
});

describe('help', () => {
  it('has flags, variables, defaults, examples and exit codes for every command', async () => {
    const { code, stdout } = await stageplane(['run', '--help']);
    expect(code).toBe(0);
    const text = stdout.replace(/\s+/g, ' ');
    for (const part of ['--place', 'STAGEPLANE_ORCHESTRATOR', '127.0.0.1:7070', 'stageplane run model.gguf --wait']) {
      expect(text).toContain(part);
    }
    expect(text).toContain('4 the run ended FAULTED');
  });

  it('ends with 2 when there was nothing to do', async () => {
    expect((await stageplane([])).code).toBe(2);
    expect((await stageplane(['runs'])).code).toBe(2);
  });
});

it('tells its version, and all that two machines have to agree on', async () => {
  const { code, stdout, stderr } = await stageplane(['version']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^stageplane \d+\.\d+\.\d+\nwire: +stageplane\.v1, agent protocol 1, worker protocol 1\n/);
  expect(stdout).toMatch(/^engine fixture: +fixture 1$/m);
  expect(await stageplane(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
  const document = JSON.parse((await stageplane(['version', '--json'])).stdout);
  expect(document).toMatchObject({ version, edgeRecord: 'MO01 version 1', node: process.versions.node });
  expect(document.engines).toContainEqual({ name: 'fixture', offered: true, build: 'fixture 1' });
});
