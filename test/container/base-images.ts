import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { madeBinding } from '../support/made-binding.js';
import type { Engine } from './engine.js';

const DEBIAN = 'localhost/stageplane-stand-in/debian:bookworm';
const NODE = 'localhost/stageplane-stand-in/node';

/**
 * Images that stand in for Node's own, where Docker Hub may be out of reach. Their name is theirs, so that nobody takes them for those.
 *
 * @param cache where Debian's part is kept for the next run
 * @param folder an empty one, for what goes into them
 * @returns the NODE_IMAGE to build with
 */
export async function standInForNode(engine: Engine, cache: string, folder: string): Promise<string> {
  if ((await engine.attempt('image', 'inspect', DEBIAN)).code !== 0)
    await engine.run('import', debianRelease(cache), DEBIAN);
  gatherNode(folder);
  const file = join(import.meta.dirname, 'stand-in.Dockerfile');
  const build = (target: string, tag: string) =>
    engine.run('build', '--quiet', '--file', file, '--target', target, '--tag', `${NODE}:${tag}`, folder);
  await build('slim', '20-bookworm-slim');
  await build('full', '20-bookworm');
  return NODE;
}

/** The smallest Debian that has a package manager: what `debian:bookworm-slim` is made of, too. */
function debianRelease(cache: string): string {
  const made = join(cache, 'bookworm.tar');
  if (existsSync(made)) return made;
  mkdirSync(cache, { recursive: true });
  const part = join(cache, 'part.tar');
  const without = ['doc', 'man', 'locale'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  execFileSync('mmdebstrap', ['--quiet', '--variant=minbase', ...without, 'bookworm', part], { stdio: 'inherit' });
  renameSync(part, made);
  return made;
}

/** Times are kept, so that an engine knows again what it has seen. */
function gatherNode(folder: string): void {
  const npm = dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())));
  cpSync(process.execPath, join(folder, 'node'), { preserveTimestamps: true });
  cpSync(npm, join(folder, 'npm'), { recursive: true, preserveTimestamps: true });
  mkdirSync(join(folder, 'prebuilds'));
  madeBinding(join(folder, 'prebuilds'));
  mkdirSync(join(folder, 'etc'));
  writeFileSync(join(folder, 'etc', 'npmrc'), npmConfiguration(join(folder, 'etc')));
}

/** How npm reaches its registry from here; whom it trusts lies beside it. */
function npmConfiguration(folder: string): string {
  const said = JSON.parse(execFileSync('npm', ['config', 'list', '--json', '--long'], { encoding: 'utf8' }));
  const lines = ['registry', 'proxy', 'https-proxy', 'noproxy']
    .filter((key) => said[key]?.length)
    .map((key) => `${key}=${said[key]}`);
  const trusted = said.cafile ?? process.env.NODE_EXTRA_CA_CERTS;
  if (trusted) {
    cpSync(realpathSync(trusted), join(folder, 'trusted.pem'));
    lines.push('cafile=/usr/local/etc/trusted.pem');
  }
  return `${lines.join('\n')}\n`;
}
