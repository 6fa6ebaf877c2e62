import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Engine } from './engine.js';

export type FoundEngine =
  | { readonly kind: 'found'; readonly engine: Engine; release(): Promise<void> }
  | { readonly kind: 'none'; readonly why: string };

/**
 * The daemon that is there; else one of our own, where its program is installed and we may start it.
 *
 * @param cache what our own daemon keeps between runs: its images
 */
export async function findEngine(cache: string): Promise<FoundEngine> {
  const theirs = new Engine();
  if ((await theirs.attempt('info')).code === 0) return { kind: 'found', engine: theirs, release: async () => {} };
  if (spawnSync('dockerd', ['--version']).status !== 0)
    return { kind: 'none', why: 'no Docker daemon answers, and there is none to start: install docker.io' };
  if (process.getuid?.() !== 0) return { kind: 'none', why: 'no Docker daemon answers, and only root may start one' };
  return ownDaemon(cache);
}

async function ownDaemon(cache: string): Promise<FoundEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'sp-'));
  mkdirSync(cache, { recursive: true });
  const host = `unix://${join(folder, 'docker.sock')}`;
  const places = { host, 'data-root': cache, 'exec-root': join(folder, 'run'), pidfile: join(folder, 'pid') };
  const words = Object.entries(places).flatMap(([flag, value]) => [`--${flag}`, value]);
  const daemon = spawn('dockerd', words, { stdio: ['ignore', 'ignore', 'pipe'] });
  const log = join(cache, 'dockerd.log');
  daemon.stderr.pipe(createWriteStream(log));
  const ended = once(daemon, 'exit');

  const engine = new Engine(host);
  while ((await engine.attempt('info')).code !== 0)
    if (daemon.exitCode !== null) return { kind: 'none', why: `a Docker daemon of our own does not start: see ${log}` };
  const release = async () => {
    daemon.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  return { kind: 'found', engine, release };
}
