import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface PortHolder {
  readonly pid: string;
  readonly name: string;
}

/** Who listens on a TCP port of this machine, as far as Linux tells this user. */
export function portHolder(port: number): PortHolder | undefined {
  if (process.platform !== 'linux') return undefined;
  const sockets = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => listeners(table, port)));
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => socketsOf(pid).some((socket) => sockets.has(socket)))
    .map((pid) => ({ pid, name: read(`/proc/${pid}/comm`).trim() }))[0];
}

/** Inodes of the sockets that listen on a port; see proc(5). */
function listeners(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const LISTEN = '0A';
  return read(table)
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => local.endsWith(suffix) && state === LISTEN)
    .map((fields) => fields[9] ?? '');
}

function socketsOf(pid: string): string[] {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).map((name) => /^socket:\[(\d+)\]$/.exec(link(`${folder}/${name}`))?.[1] ?? '');
  } catch {
    // Of another user, or gone.
    return [];
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
