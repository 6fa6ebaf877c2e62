import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GgufSource } from '../../gen/stageplane/v1/model.js';
import { clipText } from '../core/clip-text.js';
import { limits } from '../core/limits.js';
import type { ModelLookup } from '../core/machine/agent/events.js';
import { parseShardName, shardPath } from '../core/model/shard-name.js';
import { lookInside } from '../process/look-inside.js';

/**
 * Finds a provision's model on this machine. A relative path is tried under each folder; an absolute one is taken when
 * it is inside a folder, otherwise its file name is tried under each: the orchestrator's folders need not be ours, and
 * the digest says whether it is the same file. Nothing outside the folders is ever given to a worker, not even through
 * a link, and no answer tells what is there.
 *
 * @param folders of `--models`
 */
export async function findModel(source: GgufSource | undefined, folders: readonly string[]): Promise<ModelLookup> {
  const kind = source?.source;
  if (kind === undefined || kind.value === '') return refused('the provision names no model file');
  if (kind.$case === 'huggingFace') {
    const { repo, file } = kind.value;
    return refused(
      `${shown(`${repo}/${file}`)} is on Hugging Face, and downloads are not in this version: put the file into a folder of --models and plan with its path`,
    );
  }
  const path = kind.value;
  if (folders.length === 0)
    return refused(
      `${shown(path)} cannot be looked for, since this agent has no models folder: start it with --models`,
    );
  const late = new AbortController();
  const looked = await Promise.race([
    lookUnder(path, folders),
    sleep(limits.findModelMillis, 'late' as const, { signal: late.signal }).catch(() => 'late' as const),
  ]);
  late.abort();
  if (looked !== 'late') return looked;
  return refused(
    `${shown(path)} was not found within ${limits.findModelMillis / 1000} s under ${listed(folders)}: see whether these folders are mounted`,
  );
}

async function lookUnder(path: string, folders: readonly string[]): Promise<ModelLookup> {
  let outside: string | undefined;
  for (const candidate of candidates(path, folders)) {
    const looked = await lookInside(candidate, folders);
    if (looked.kind === 'inside' && (await isFile(looked.real))) return found(looked, folders);
    // An absolute path outside is no surprise; what should be under our own folders and leads away is.
    if (looked.kind === 'outside' && candidate !== path) outside ??= candidate;
  }
  if (outside !== undefined) {
    return leadsOut(outside, folders);
  }
  return refused(
    `${shown(path)} was not found under ${listed(folders)}: put it there, or add its folder with --models`,
  );
}

/** A shard keeps the name that the others are found by, and none of those may lead away either. */
async function found({ path, real }: { path: string; real: string }, folders: readonly string[]): Promise<ModelLookup> {
  const shard = parseShardName(path);
  if (!shard) return { kind: 'found', path: real };
  for (let number = 2; number <= Math.min(shard.count, limits.ggufShards); number++) {
    const other = shardPath({ ...shard, number });
    if ((await lookInside(other, folders)).kind === 'outside') return leadsOut(other, folders);
  }
  return { kind: 'found', path };
}

function candidates(path: string, folders: readonly string[]): string[] {
  if (!isAbsolute(path) && !isForeignAbsolute(path)) return folders.map((folder) => join(folder, path));
  // The orchestrator may run on another system, with another separator.
  const name = path.split(/[\\/]/).at(-1) ?? '';
  return [path, ...folders.map((folder) => join(folder, name))];
}

function isForeignAbsolute(path: string): boolean {
  return /^([a-zA-Z]:[\\/]|[\\/])/.test(path);
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

function shown(text: string): string {
  const clipped = clipText(text, limits.faultPathBytes);
  return clipped.length < text.length ? `${clipped}...` : clipped;
}

function listed(folders: readonly string[]): string {
  return shown(folders.join(', '));
}

function leadsOut(path: string, folders: readonly string[]): ModelLookup {
  return refused(`${shown(path)} leads out of ${listed(folders)}: add the folder that it leads to with --models`);
}

function refused(what: string): ModelLookup {
  return { kind: 'refused', message: clipText(`model ${what}`, limits.faultMessageBytes) };
}
