import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentCommand } from '../../src/cli/commands/agent.js';
import { orchestratorCommand } from '../../src/cli/commands/orchestrator.js';
import { flagOf, variableOf } from '../../src/cli/config/setting-names.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { deployed, readComposeFile } from './compose-file.js';

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

describe.each([
  ['orchestrator', orchestratorCommand],
  ['agent', agentCommand],
])('the unit of the %s', (daemon, command) => {
  const unit = deployed(`systemd/stageplane-${daemon}.service`);

  it.runIf(hasSystemd)('is sound, and shut off from what it does not need', () => {
    const file = join(temporaryFolder(), `stageplane-${daemon}.service`);
    writeFileSync(file, unit.replace('/usr/local/bin/stageplane', process.execPath));
    const analyze = (...words: string[]) =>
      execFileSync('systemd-analyze', [...words, file], { encoding: 'utf8', stdio: 'pipe' });
    expect(analyze('verify', '--man=no')).toBe('');
    // From 0 to 100: tenths of the level of exposure.
    expect(analyze('security', '--offline=true', '--threshold=25', '--no-pager')).toContain('Overall exposure level');
  });

  it('tells the daemon alone to stop, and lets V8 make code', () => {
    expect(unit).toMatch(/^KillMode=mixed$/m);
    expect(unit).toMatch(/^MemoryDenyWriteExecute=no$/m);
  });

  it('has settings that the daemon knows', () => {
    const known = new Set(
      Object.entries(command.settings).flatMap(([key, { environment }]) => (environment ? [variableOf(key)] : [])),
    );
    const named = `${unit}\n${deployed(`systemd/${daemon}.env`)}`.match(/\bSTAGEPLANE_[A-Z_]+(?==)/g) ?? [];
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    expect(named.length).toBeGreaterThan(3);
  });
});

it('the compose file has settings that a daemon knows', () => {
  const keys = [...Object.keys(orchestratorCommand.settings), ...Object.keys(agentCommand.settings)];
  const known = new Set(keys.map(variableOf));
  const named = Object.values(readComposeFile().services).flatMap(({ environment = {} }) => Object.keys(environment));
  expect(
    named.filter((name) => !known.has(name)),
    `known by a flag such as ${flagOf('listen')}`,
  ).toEqual([]);
});
