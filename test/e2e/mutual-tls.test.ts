import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import { readCredentials } from '../../src/pki/credential-folder.js';
import { descendantsOf } from '../../src/process/descendants.js';
import { encodePreamble } from '../../src/worker/edge/edge-preamble.js';
import { afterFile } from '../support/after-file.js';
import { commandsBelow, Machines, type Name, operatorsCommands } from './machines.js';

const patience = { timeout: 30_000, interval: 200 };
const finished = afterFile();
let machines: Machines;
const said: Record<string, string> = {};

/** The commands of src/OPERATING.md in their order; a token goes where the next one is asked for. */
beforeAll(async () => {
  machines = await Machines.prepare(finished, { STAGEPLANE_GRACE: '2s', STAGEPLANE_START_GRACE: '2s' });
  const tokens: string[] = [];
  let agents = 0;
  for (const line of operatorsCommands()) {
    const [, command = ''] = line.split(' ');
    if (command === 'agent') {
      const name = (['laptop', 'desktop'] as const)[agents]!;
      agents += 1;
      machines.start(name, line.replace('sp1.…', tokens.shift() ?? ''));
      while ((await nodesThatTakeStages()) < agents) machines.mustLive();
    } else if (command === 'orchestrator') {
      machines.start('server', line);
      while ((await machines.run('server', 'stageplane server info')).code !== 0) machines.mustLive();
    } else {
      // A person is elsewhere: what they have joined as on the server would stand before what the operator is there.
      const where = line.includes('sp1.…') ? 'laptop' : 'server';
      const { code, stdout, stderr } = await machines.run(
        where,
        line.replace('sp1.…', () => tokens.shift() ?? ''),
      );
      if (code !== 0) throw new Error(`${line}: ${stderr}`);
      if (command === 'token') tokens.push(stdout.trim());
      said[command] = stdout;
    }
  }
}, 180_000);

async function nodesThatTakeStages(): Promise<number> {
  const { stdout } = await machines.run('server', 'stageplane nodes list --json');
  const { nodes = [] } = JSON.parse(stdout || '{}') as { nodes?: { conditions: { type: string; met?: boolean }[] }[] };
  const isReady = (type: string, met?: boolean) => type === 'NODE_CONDITION_TYPE_SCHEDULABLE' && met;
  return nodes.filter(({ conditions }) => conditions.some(({ type, met }) => isReady(type, met))).length;
}

/** A run that goes on, on both nodes. */
async function serve(): Promise<string> {
  const { code, stdout, stderr } = await machines.run(
    'server',
    'stageplane run llama.gguf --place 0=laptop,1=desktop --until ready --json',
  );
  if (code !== 0) throw new Error(stdout + stderr);
  return (/"runId": ?"(\d+)"/.exec(stdout) ?? [])[1] ?? '';
}

const runOf = async (runId: string) =>
  JSON.parse((await machines.run('server', `stageplane runs get ${runId} --json`)).stdout).run;

describe('the commands of src/OPERATING.md, on three machines that are one', () => {
  it('end in an answer', () => {
    expect(operatorsCommands().map((line) => line.split(' ')[1])).toEqual([
      'init',
      'orchestrator',
      'token',
      'token',
      'agent',
      'agent',
      'run',
      'token',
      'join',
    ]);
    expect(said.join).toMatch(/^tablet is a viewer[\s\S]+COMPLETED/);
    expect(said.run?.trim().length).toBeGreaterThan(0);
  });

  it('leave gateways that take nothing in plain text', async () => {
    for (const name of ['server', 'laptop', 'desktop'] as const) {
      const socket = connectPlain(machines.edgePorts[name], '127.0.0.1');
      socket.on('error', () => {});
      socket.write(encodePreamble({ runId: 1n, generation: 1, edgeId: 1n, producerNodeId: 1n }));
      const heard: Buffer[] = [];
      socket.on('data', (chunk) => heard.push(chunk));
      await once(socket, 'close');
      // At most an alert of TLS.
      expect([0, 21]).toContain(Buffer.concat(heard)[0] ?? 0);
    }
  });
});

describe.runIf(process.platform === 'linux')('a stage worker', () => {
  it('holds no key, no certificate and no connection to another machine, nor does a token endpoint', async () => {
    const runId = await serve();
    const daemons = (['server', 'laptop', 'desktop'] as const).map((name) => machines.pid(name));
    const children = daemons.flatMap((pid) => descendantsOf(pid));
    const commands = commandsBelow(children);
    expect([...commands.values()].filter((command) => /worker.main\.js/.test(command)).length).toBeGreaterThanOrEqual(
      2,
    );
    expect([...commands.values()].filter((command) => /token-endpoint.main\.js/.test(command)).length).toBe(1);
    for (const pid of commands.keys()) {
      for (const [what, seen] of Object.entries(everythingOf(pid))) {
        expect([what, seen]).toEqual([what, expect.not.stringMatching(/pki|\.pem|sp1\.|PRIVATE KEY|CERTIFICATE/)]);
      }
      expect(tcpSocketsOf(pid)).toEqual([]);
    }
    // The other side of the coin: the daemons do.
    expect(daemons.every((pid) => tcpSocketsOf(pid).length > 0)).toBe(true);
    expect(everythingOf(machines.pid('laptop')).argv).toContain('sp1.');
    await machines.run('server', `stageplane runs stop ${runId}`);
  });
});

function everythingOf(pid: number): { argv: string; environment: string; files: string } {
  const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8').replaceAll('\0', ' ');
  return { argv: read('cmdline'), environment: read('environ'), files: openFiles(pid).join(' ') };
}

function openFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}

/** Those of its open files that are sockets of TCP. */
function tcpSocketsOf(pid: number): string[] {
  const tables = ['tcp', 'tcp6'].flatMap((name) => readFileSync(`/proc/${pid}/net/${name}`, 'utf8').split('\n'));
  const inodes = new Set(tables.map((row) => row.trim().split(/\s+/)[9]));
  return openFiles(pid).filter((file) => inodes.has(/^socket:\[(\d+)\]$/.exec(file)?.[1] ?? 'no socket'));
}

describe('a node whose certificate is revoked', () => {
  it('is lost after its grace, with its runs, and no gateway has an edge for it any more', async () => {
    const runId = await serve();
    const before = readCredentials(join(machines.dataOf('laptop'), 'pki'), 'agent');
    if (before.kind !== 'read') throw new Error('the laptop has no certificate');
    await machines.run('server', `stageplane cert revoke ${before.identity.serial}`);
    await expect.poll(async () => (await runOf(runId)).outcome, patience).toBe('RUN_OUTCOME_FAULTED');
    const { cause } = await runOf(runId);
    expect(cause).toMatchObject({ nodeName: 'laptop' });
    // The certificate itself is good still: what it would bring is of no stage that there is.
    const edge = { runId: BigInt(runId), generation: 1, edgeId: 2n, producerNodeId: 2n };
    await expect.poll(async () => (await runOf(runId)).stages[1].phase, patience).toBe('STAGE_PHASE_STOPPED');
    expect(await bring('desktop', before.credentials, edge)).toBe('secured, then closed');
  });

  it('and started anew says so', async () => {
    await machines.stop('laptop');
    const { code, stderr } = await machines.run('laptop', 'stageplane agent --orchestrator server:7070');
    expect([code, stderr]).toEqual([1, expect.stringContaining('was revoked: join anew with a token')]);
  });
});

async function bring(
  name: Name,
  { ca, certificate: cert, privateKey: key }: { ca: string; certificate: string; privateKey: string },
  edge: Parameters<typeof encodePreamble>[0],
): Promise<string> {
  const port = machines.edgePorts[name];
  const socket = connect({ host: '127.0.0.1', port, ca, cert, key, checkServerIdentity: () => undefined });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  socket.write(encodePreamble(edge));
  let heard = 0;
  socket.on('data', ({ length }) => {
    heard += length;
  });
  await once(socket, 'close');
  return heard === 0 ? 'secured, then closed' : 'secured, and taken';
}

it('a node that has joined refuses --insecure-edges, with a sentence', async () => {
  await machines.stop('desktop');
  const { code, stderr } = await machines.run(
    'desktop',
    'stageplane agent --orchestrator server:7070 --insecure-edges',
  );
  expect(code).toBe(1);
  expect(stderr).toContain('its edges go over mutual TLS: leave out --insecure-edges');
});
