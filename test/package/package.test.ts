import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/package-root.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { bareMachine, installGlobally } from './install.js';
import { type Packed, pack } from './pack.js';

const folder = temporaryFolder(afterAll);
let packed: Packed;
let paths: readonly string[];
const machine = bareMachine(folder);
const run = promisify(execFile);

beforeAll(() => {
  packed = pack(folder);
  paths = packed.files.map(({ path }) => path);
});

describe('what is in the package', () => {
  it('is what a user needs, and nothing that only a developer does', () => {
    const known = [
      /^(package\.json|README\.md|SECURITY\.md|LICENSE)$/,
      /^dist\/(src|gen)\/.*\.(js|d\.ts)$/,
      /^dist\/dashboard\/(index\.html|assets\/.*\.(js|css|svg))$/,
      /^proto\/.*\.proto$/,
      /^gen\/descriptor\.binpb$/,
      /^deploy\/(README\.md|container|systemd)/,
      /^src\/(CONCEPTS|OPERATING|TROUBLESHOOTING|cli\/CONFIGURATION)\.md$/,
    ];
    expect(paths.filter((path) => !known.some((pattern) => pattern.test(path)))).toEqual([]);
    for (const pattern of known) expect(paths, String(pattern)).toContainEqual(expect.stringMatching(pattern));
  });

  it('has the compiled form of every source, and of none that is gone', () => {
    const compiled = paths
      .filter((path) => /^dist\/(src|gen)\/.*\.js$/.test(path))
      .map((path) => path.slice('dist/'.length, -3));
    const sources = ['src', 'gen'].flatMap((name) =>
      readdirSync(join(packageRoot(), name), { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.tsx?$/.test(file) && !file.startsWith(`dashboard${sep}`))
        .map((file) => `${name}/${file.replace(/\.tsx?$/, '')}`),
    );
    expect(compiled.sort()).toEqual(sources.sort());
    expect(paths.filter((path) => /^dist\/(src|gen)\/.*\.d\.ts$/.test(path))).toHaveLength(compiled.length);
  });

  it('is small', () => {
    console.log(`package: ${packed.size} bytes, ${packed.unpackedSize} unpacked, ${packed.files.length} files`);
    expect(packed.size).toBeLessThan(2 ** 21);
  });
});

describe('once installed, on a machine that has nothing else', () => {
  beforeAll(() => void installGlobally(machine, packed));
  const installed = join(machine.prefix, 'lib', 'node_modules', 'stageplane');
  const stageplane = (...words: string[]) =>
    run(join(machine.prefix, 'bin', 'stageplane'), words, { cwd: folder, env: machine.environment });

  it('says its version', async () => {
    const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));
    expect((await stageplane('--version')).stdout).toBe(`${version}\n`);
    expect((await stageplane('version')).stdout).toContain(`stageplane ${version}\n`);
  });

  it('plans, runs and answers, and leaves nothing', async () => {
    const { stdout, stderr } = await stageplane('demo');
    expect(stderr).toBe('');
    expect(stdout).toMatch(/no process and no socket is left\n$/);
    expect(readdirSync(machine.environment.TMPDIR!)).toEqual([]);
  });

  it('is a library, whose types are whole', async () => {
    const project = projectWith(installed, { 'launcher.ts': launcher, ...examples() });
    const tsc = join(packageRoot(), 'node_modules', 'typescript', 'bin', 'tsc');
    const checked = await run(process.execPath, [tsc, '--project', project]).catch((error) => error);
    expect(checked.stdout).toBe('');
    const { stdout } = await run(process.execPath, [join('out', 'launcher.js')], {
      cwd: project,
      env: machine.environment,
    });
    expect(stdout).toBe('rejected PLAN_REJECTION_KIND_MALFORMED_INPUT\n');
  });
});

const launcher = `import { type AgentSessionCallbacks, Launcher, PlanRejectionKind, PlannerInput, planRun, type ShardEngine } from 'stageplane';

const outcome = planRun(PlannerInput.create());
if (outcome.kind === 'rejected') console.log(outcome.kind, PlanRejectionKind[outcome.rejection.kind]);

export const runs = (launcher: Launcher) => launcher.watchRun(1n);
export type Mine = ShardEngine & AgentSessionCallbacks;
`;

function examples(): Record<string, string> {
  const folder = join(packageRoot(), 'examples');
  const names = readdirSync(folder).filter((name) => name.endsWith('.mjs'));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** Someone's own package that depends on the installed one; `skipLibCheck` stays off, so that our declarations are read. */
function projectWith(installed: string, files: Readonly<Record<string, string>>): string {
  const project = join(folder, 'project');
  const types = join(packageRoot(), 'node_modules', '@types');
  const link = (target: string, name: string) => {
    mkdirSync(dirname(join(project, 'node_modules', name)), { recursive: true });
    symlinkSync(target, join(project, 'node_modules', name));
  };
  link(installed, 'stageplane');
  link(join(types, 'node'), '@types/node');
  const checks = { strict: true, allowJs: true, checkJs: true };
  const compilerOptions = { module: 'NodeNext', target: 'ES2023', types: ['node'], outDir: 'out', ...checks };
  const all = {
    ...files,
    'package.json': JSON.stringify({ type: 'module' }),
    'tsconfig.json': JSON.stringify({ compilerOptions }),
  };
  for (const [name, text] of Object.entries(all)) writeFileSync(join(project, name), text);
  return project;
}
