import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Engine } from './engine.js';

export type FoundEngine =
  | { readonly kind: 'found'; readonly engine: Engine; release(): Promise<void> }
  | { readonly kind: 'none'; readonly why: string };

/** What our own daemon keeps between runs. Not in this tree: whoever walks that must not come into the roots of containers. */
const IMAGES = '/var/cache/stageplane-test';

/** The daemon that is there; else one of our own, where its program is installed and we may start it. */
export async function findEngine(): Promise<FoundEngine> {
  const theirs = new Engine();
  if ((await theirs.attempt('info')).code === 0) return { kind: 'found', engine: theirs, release: async () => {} };
  if (spawnSync('dockerd', ['--version']).status !== 0)
    return { kind: 'none', why: 'no Docker daemon answers, and there is none to start: install docker.io' };
  if (process.getuid?.() !== 0) return { kind: 'none', why: 'no Docker daemon answers, and only root may start one' };
  return ownDaemon();
}

async function ownDaemon(): Promise<FoundEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'sp-'));
  mkdirSync(IMAGES, { recursive: true });
  const host = `unix://${join(folder, 'docker.sock')}`;
  const places = { host, 'data-root': IMAGES, 'exec-root': join(folder, 'run'), pidfile: join(folder, 'pid') };
  const words = Object.entries(places).flatMap(([flag, value]) => [`--${flag}`, value]);
  const daemon = spawn('dockerd', words, { stdio: ['ignore', 'ignore', 'pipe'] });
  const log = join(IMAGES, 'dockerd.log');
  daemon.stderr.pipe(createWriteStream(log));
  const ended = once(daemon, 'close');

  const engine = new Engine(host);
  const release = async () => {
    daemon.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const deadline = Date.now() + 60_000;
  while ((await engine.attempt('info')).code !== 0) {
    if (daemon.exitCode === null && Date.now() < deadline) continue;
    await release();
    return { kind: 'none', why: `a Docker daemon of our own does not come up: see ${log}` };
  }
  return { kind: 'found', engine, release };
}
