import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { limits } from '../core/limits.js';
import { type GatewayRefusal, refuse } from './gateway-refusal.js';

/*
 * stageplane-<uid>/                       in XDG_RUNTIME_DIR, or where temporary files are
 *   <cluster>/<node id>.sock              where a node takes edges from the others of this machine
 *   own-<owner>/local.sock                where a node takes the outbound edges of its own workers
 *   own-<owner>/<pid>-<run>-<stage>-<generation>.sock   where one worker listens
 */

/** The folder in which the nodes of one cluster meet, when nobody says otherwise. Absolute; not made yet. */
export function edgeRuntimeFolder(clusterId: string): string {
  return join(userFolder(), shortName(clusterId));
}

/** The folder of one node's own sockets. @param ownerId instance of an agent; cluster of the orchestrator */
export function ownEdgeFolder(ownerId: string): string {
  return join(userFolder(), `own-${shortName(ownerId)}`);
}

/** @param folder `edgeRuntimeFolder` */
export function nodeSocket(folder: string, nodeId: bigint): string {
  return join(folder, `${nodeId}.sock`);
}

/** @param folder `ownEdgeFolder` */
export function localSocket(folder: string): string {
  return join(folder, 'local.sock');
}

/**
 * Never used by two processes: a worker that outlives its agent removes its own socket, and no other's.
 *
 * @param folder `ownEdgeFolder`
 */
export function stageSocket(
  folder: string,
  {
    runId,
    stageIndex,
    generation,
  }: { readonly runId: bigint; readonly stageIndex: number; readonly generation: number },
): string {
  return join(folder, `${process.pid}-${runId}-${stageIndex}-${generation}.sock`);
}

/** Makes a runtime folder for this user alone; refuses RUNTIME_FOLDER when somebody else could put sockets into it. */
export function prepareRuntimeFolder(folder: string): GatewayRefusal | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const problem = runtimeFolderProblem(dirname(folder)) ?? runtimeFolderProblem(folder);
    return problem === undefined ? undefined : refuse('RUNTIME_FOLDER', problem);
  } catch (error) {
    const { message } = error as Error;
    return refuse('RUNTIME_FOLDER', `the folder of edge sockets cannot be made (${message}): ${ADVICE}`);
  }
}

/** Refuses RUNTIME_FOLDER when the kernel would not take the path of a socket. */
export function refuseLongPath(path: string): GatewayRefusal | undefined {
  const bytes = Buffer.byteLength(path);
  if (bytes <= limits.socketPathBytes) return undefined;
  const sizes = `${bytes} bytes, ${limits.socketPathBytes} at most are possible`;
  return refuse(
    'RUNTIME_FOLDER',
    `the path of the edge socket ${path} has ${sizes}: set XDG_RUNTIME_DIR to a shorter one`,
  );
}

const ADVICE = 'set XDG_RUNTIME_DIR to a folder that is yours alone';

function userFolder(): string {
  const { XDG_RUNTIME_DIR: given = '' } = process.env;
  return join(isAbsolute(given) ? given : tmpdir(), `stageplane-${process.getuid?.() ?? 'user'}`);
}

/** Ids are UUIDs; what else the wire may bring must not become a path. */
function shortName(id: string): string {
  const [hex] = /^[0-9a-f]{8}/.exec(id) ?? [createHash('sha256').update(id).digest('hex').slice(0, 8)];
  return hex;
}

/** Why a folder that is there may not hold our sockets, as a sentence that says what to do. */
export function runtimeFolderProblem(folder: string): string | undefined {
  const found = lstatSync(folder);
  const name = `the folder of edge sockets, ${folder},`;
  if (!found.isDirectory()) return `${name} is a link or a file: remove it, or ${ADVICE}`;
  if (process.getuid && found.uid !== process.getuid()) return `${name} belongs to another user: ${ADVICE}`;
  const isOpen = process.platform !== 'win32' && (found.mode & 0o077) !== 0;
  return isOpen ? `${name} is open to other users: run chmod 700 on it, or ${ADVICE}` : undefined;
}
