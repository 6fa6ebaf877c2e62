import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { Child, type Ended, failed, stageplane } from './child.js';

const folder = temporaryFolder(afterAll);
const data = join(folder, 'data');
// Where certificates are kept that no folder was named for.
const home = { HOME: folder };

let orchestrator: Child;
let address: string;
let enroll: string;

const run = (...words: string[]): Promise<Ended> => stageplane(words, home);
const admin = (...words: string[]): Promise<Ended> => run(...words, '--data', data);
async function start(): Promise<void> {
  const words = ['orchestrator', '--json', '--data', data, '--listen', '127.0.0.1:0', '--models', folder];
  orchestrator = new Child(words, home);
  await orchestrator.shown('stdout', '\n');
  ({ address, enrollAddress: enroll } = JSON.parse(orchestrator.stdout));
}

async function stop(): Promise<void> {
  orchestrator.process.kill('SIGTERM');
  await orchestrator.end();
}

async function token(...words: string[]): Promise<string> {
  const { stdout } = await admin('token', 'create', '--json', ...words);
  return JSON.parse(stdout).token;
}

interface Listed {
  readonly serial: string;
  readonly name: string;
  readonly revoked?: boolean;
  readonly nodeDeleted?: boolean;
}

async function certificates(): Promise<Listed[]> {
  return JSON.parse((await admin('cert', 'list', '--json')).stdout).certificates;
}

beforeAll(async () => {
  await admin('init', '--name', 'server.lan', '--name', '10.0.0.5');
  await start();
});

afterAll(stop);

describe('key', () => {
  it('is created, listed and revoked', async () => {
    const made = await admin('key', 'create', '--name', 'editor', '--ttl', '30d');
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sk-stageplane-[\w-]{43}\n$/) });
    expect(made.stderr).toMatch(/^it is not shown again; until \S+Z send it as: Authorization: Bearer KEY\n$/);
    const wall = JSON.parse((await admin('key', 'create', '--name', 'wall', '--role', 'viewer', '--json')).stdout);
    expect(wall.created).toMatchObject({ name: 'wall', role: 'viewer' });
    const listed = await admin('key', 'list');
    expect(listed.stdout).toMatch(/editor +launcher .*\n.*wall +viewer .* never/);
    expect(await admin('key', 'revoke', wall.created.keyId)).toMatchObject({
      code: 0,
      stdout: 'the key of "wall" is revoked\n',
    });
    expect((await admin('key', 'revoke', wall.created.keyId)).stderr).toContain('there is no key');
    expect((await admin('key', 'create')).stderr).toContain('--name: say what the key is for');
  });
});

describe('token create', () => {
  it('prints the token and nothing else on stdout, and what to do with it beside', async () => {
    const agent = await admin('token', 'create', '--node', 'gpu-a');
    expect(agent).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sp1\.[0-9a-f]{64}\.[\w-]{43}\n$/) });
    expect(agent.stderr).toMatch(
      /^it is not shown again; redeem it until \S+Z with: stageplane agent .+ --join TOKEN\n$/,
    );
    const viewer = await admin('token', 'create', '--role', 'viewer', '--ttl', '30d');
    expect(viewer.stderr).toContain('with: stageplane join TOKEN --orchestrator HOST:PORT\n');
  });

  it('keeps to its --ttl', async () => {
    const asked = Date.now();
    const { stdout } = await admin('token', 'create', '--ttl', '10m', '--json');
    const seconds = (Date.parse(JSON.parse(stdout).expiresAt) - asked) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(600);
    expect(seconds).toBeLessThan(700);
  });

  it.each([
    [['--ttl', '0'], '--ttl: "0" is too short; write at least 1ms'],
    [['--ttl', '31d'], '--ttl: "31d" is too long; 30d is the most'],
    [['--ttl', 'soon'], '--ttl: "soon" is no duration; write one such as 300ms, 5s or 2m'],
    [['--role', 'admin'], '--role: "admin" is none of agent, launcher, viewer'],
    [
      ['--node', 'Bad Name'],
      '--node: "Bad Name" is no name; use at most 63 of a-z, 0-9 and "-", and no "-" at either end',
    ],
  ])('refuses %j', async (words, sentence) => {
    expect(await admin('token', 'create', ...words)).toMatchObject(failed(2, sentence));
  });

  it('says where nobody listens, and where nobody asks for certificates', async () => {
    const nowhere = join(folder, 'nowhere');
    expect(await run('token', 'create', '--data', nowhere)).toMatchObject(
      failed(
        5,
        `no orchestrator answers at ${nowhere}/admin.sock (ENOENT); start one with \`stageplane orchestrator\`, or run this on its machine, as its user and with its --data`,
      ),
    );
    const plain = join(folder, 'plain');
    const child = new Child(['orchestrator', '--json', '--data', plain, '--listen', '127.0.0.1:0'], home);
    await child.shown('stdout', '\n');
    expect(await run('token', 'create', '--data', plain)).toMatchObject(
      failed(1, 'this orchestrator asks nobody for a certificate: stop it, run `stageplane init`, and start it again'),
    );
    child.process.kill('SIGTERM');
    await child.end();
  });
});

describe('token list', () => {
  it('shows for whom and by whom, and no secret', async () => {
    const made = await token('--role', 'launcher', '--node', 'lena');
    const secret = made.split('.')[2]!;
    await run('join', made, '--enroll', enroll, '--orchestrator', 'elsewhere:7070');
    const { stdout } = await admin('token', 'list');
    expect(stdout).toMatch(/^TOKEN +ROLE +FOR +EXPIRES +USED BY\n/);
    expect(stdout).toMatch(/^[0-9a-f]{12} +launcher +lena +\S+Z +lena$/m);
    const { tokens } = JSON.parse((await admin('token', 'list', '--json')).stdout);
    expect(tokens).toContainEqual(expect.objectContaining({ role: 'launcher', nodeName: 'lena', usedBy: 'lena' }));
    expect(stdout + JSON.stringify(tokens)).not.toContain(secret);
  });
});

describe('join', () => {
  it('keeps the certificate for this user, and other commands show it', async () => {
    const made = await token('--role', 'viewer', '--node', 'vera');
    const { code, stdout, stderr } = await run('join', made, '--orchestrator', address, '--enroll', enroll);
    const kept = join(folder, '.config', 'stageplane', address.replace(':', '_'));
    expect([code, stdout, stderr]).toEqual([
      0,
      `vera is a viewer at ${address}; the certificate is in ${kept}\nnext: \`stageplane runs list --orchestrator ${address}\`\n`,
      '',
    ]);
    expect(statSync(join(kept, 'client.pem')).mode & 0o777).toBe(0o600);
    const list = await run('runs', 'list', '--orchestrator', address);
    expect(list).toMatchObject({ code: 0, stderr: '' });
    const stopped = await run('runs', 'stop', '1', '--orchestrator', address);
    expect(stopped).toMatchObject(
      failed(
        1,
        '"vera" has the role viewer and called /stageplane.v1.OrchestratorService/StopRun, which needs the role launcher or admin: use another certificate',
      ),
    );
  });

  it('redeems a token once', async () => {
    const made = await token('--role', 'viewer');
    const words = ['join', made, '--orchestrator', address, '--enroll', enroll, '--json', '--name', 'once'];
    const first = await run(...words, '--credentials', join(folder, 'once'));
    expect(JSON.parse(first.stdout)).toEqual({ role: 'viewer', name: 'once', folder: join(folder, 'once') });
    const second = await run(...words, '--credentials', join(folder, 'twice'));
    expect(second.code).toBe(1);
    expect(JSON.parse(second.stderr)).toMatchObject({
      code: 'PERMISSION_DENIED',
      reason: 'TOKEN_USED',
      message:
        'this token has admitted "once" already, and admits one alone: create another one with `stageplane token create`',
    });
  });

  it('says what is wrong with a token', async () => {
    const cut = (await token('--role', 'viewer')).slice(0, -2);
    const sentence = 'the token is none, or was not copied as a whole: it begins with sp1 and has three parts';
    expect(await run('join', cut, '--orchestrator', address)).toMatchObject(failed(2, sentence));
  });

  it('says what is wrong with an address: nobody there, another server, or the port beside', async () => {
    const made = await token('--role', 'viewer');
    const nobody = await run('join', made, '--enroll', '127.0.0.1:1');
    expect(nobody).toMatchObject(
      failed(
        5,
        /nobody redeems tokens at 127\.0\.0\.1:1 \(ECONNREFUSED\): that is two ports after the one of --orchestrator/,
      ),
    );
    const beside = await run('join', made, '--enroll', address);
    expect(beside).toMatchObject(
      failed(5, new RegExp(`^stageplane: the server at ${address} shows the CA .+ and redeems no tokens: .+--enroll`)),
    );
    const other = `sp1.${'0'.repeat(64)}.${made.split('.')[2]}`;
    expect(await run('join', other, '--enroll', enroll)).toMatchObject(
      failed(1, /is not of the CA that the token names.+nothing was said to it/),
    );
    const { tokens } = JSON.parse((await admin('token', 'list', '--json')).stdout);
    expect(tokens.filter(({ usedBy }: { usedBy?: string }) => usedBy === 'root')).toEqual([]);
  });
});

describe('a folder of certificates', () => {
  it('is named to every command, from anywhere: that of a user, or that of the operator', async () => {
    const words = ['nodes', 'list', '--orchestrator', address.replace('127.0.0.1', 'localhost')];
    expect((await run(...words)).code).not.toBe(0);
    expect(await run(...words, '--credentials', join(data, 'pki'))).toMatchObject({ code: 0, stderr: '' });
    const beside = ['nodes', 'list', '--orchestrator', enroll, '--credentials', join(data, 'pki')];
    expect(await run(...beside)).toMatchObject(failed(1, /does not know this call: name the orchestrator's own port/));
    const environment = { ...home, STAGEPLANE_CREDENTIALS: join(data, 'pki') };
    expect((await stageplane(words, environment)).code).toBe(0);
    const empty = temporaryFolder();
    expect(await run(...words, '--credentials', empty)).toMatchObject(
      failed(1, new RegExp(`^stageplane: ${empty} has neither client\\.pem nor admin\\.pem`)),
    );
  });
});

describe('doctor', () => {
  it('looks at an orchestrator that asks for certificates by the folder that is named', async () => {
    const look = async (...words: string[]) => {
      const bare = ['doctor', '--role', 'agent', '--data', join(folder, 'nobody'), '--json'];
      const { stdout } = await run(...bare, '--orchestrator', address.replace('127.0.0.1', 'localhost'), ...words);
      return JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === 'orchestrator');
    };
    expect(await look()).toMatchObject({
      result: 'failed',
      message: expect.stringContaining('asks for a certificate'),
    });
    expect(await look('--credentials', join(data, 'pki'))).toMatchObject({
      result: 'ok',
      message: expect.stringMatching(/ answers; its clock is /),
    });
    expect(await look('--credentials', folder)).toMatchObject({
      result: 'failed',
      message: expect.stringContaining(`${folder} has neither client.pem nor admin.pem`),
    });
  });
});

describe('agent --join', () => {
  it('joins, says why it does not, and loses its session when its certificate is revoked', async () => {
    const agentData = join(folder, 'agent');
    const words = ['agent', '--orchestrator', address, '--enroll', enroll, '--models', folder, '--data', agentData];
    const bad = await run(...words, '--join', 'sp1.x.y', '--log-level', 'fatal');
    expect(bad).toMatchObject(
      failed(1, 'the token of --join is none, or was not copied as a whole: it begins with sp1 and has three parts'),
    );
    const viewer = await token('--role', 'viewer');
    const viewers = await run(...words, '--join', viewer, '--log-level', 'fatal');
    expect(viewers).toMatchObject(
      failed(1, /this token makes a viewer, and no agent: redeem it with `stageplane join`/),
    );
    const kept = ['--credentials', join(folder, 'not-used-up')];
    expect((await run('join', viewer, '--enroll', enroll, '--name', 'victor', ...kept)).code).toBe(0);
    expect(await run('join', await token(), '--enroll', enroll, ...kept)).toMatchObject(
      failed(1, /this token makes an agent: start one with `stageplane agent --join`/),
    );
    const agent = new Child([...words, '--join', await token('--node', 'alpha')], home);
    await agent.shown('stderr', 'joined by token');
    const named = async () => {
      const list = await run('nodes', 'list', '--json', '--orchestrator', address, '--credentials', join(data, 'pki'));
      return JSON.parse(list.stdout).nodes.map(({ name }: { name: string }) => name);
    };
    await expect.poll(named, { timeout: 20_000 }).toEqual(['alpha']);
    const { serial } = (await certificates()).find(({ name }) => name === 'alpha')!;
    await admin('cert', 'revoke', serial);
    // Its workers go on until its lease has run out, as when the orchestrator is away.
    await agent.shown('stderr', `${serial} was revoked`);
    agent.process.kill('SIGTERM');
    expect((await agent.end()).code).toBe(0);
  });
});

describe('cert list', () => {
  it('marks what no node is left of', async () => {
    const words = ['agent', '--orchestrator', address, '--enroll', enroll, '--models', folder];
    const place = ['--data', join(folder, 'gone'), '--join', await token('--node', 'gone')];
    const agent = new Child([...words, ...place], home);
    await agent.shown('stderr', 'joined by token');
    const client = ['--orchestrator', address, '--credentials', join(data, 'pki')];
    const states = async () => (await run('nodes', 'list', ...client)).stdout;
    await expect.poll(states, { timeout: 20_000 }).toMatch(/gone +schedulable/);
    const line = async () => /^.* gone .*$/m.exec((await admin('cert', 'list')).stdout)?.[0];
    expect(await line()).toMatch(/ agent +gone +\d+ +\S+Z +good$/);
    agent.process.kill('SIGTERM');
    await agent.end();
    expect(await run('nodes', 'delete', 'gone', ...client)).toMatchObject({ code: 0, stderr: '' });
    expect(await line()).toMatch(/ agent +gone +\d+ +\S+Z +node deleted$/);
    expect((await certificates()).filter(({ nodeDeleted }) => nodeDeleted).map(({ name }) => name)).toEqual(['gone']);
  });
});

describe('cert revoke', () => {
  it('lets nobody in any longer, and is said once more when asked again', async () => {
    const kept = join(folder, 'watcher');
    await run('join', await token('--role', 'viewer', '--node', 'watcher'), '--enroll', enroll, '--credentials', kept);
    const certificate = (await certificates()).find(({ name }) => name === 'watcher')!;
    const page = await admin('cert', 'list');
    expect(page.stdout).toMatch(/^SERIAL +ROLE +NAME +NODE +EXPIRES +STATE\n/);
    expect(page.stdout).toMatch(new RegExp(`^${certificate.serial} +viewer +watcher +\\S+Z +good$`, 'm'));
    const client = ['--orchestrator', address, '--credentials', kept];
    expect((await run('runs', 'list', ...client)).code).toBe(0);
    expect(await admin('cert', 'revoke', certificate.serial)).toMatchObject({
      code: 0,
      stdout: `revoked: ${certificate.serial}\n`,
    });
    expect(await run('runs', 'list', ...client)).toMatchObject(
      failed(1, `certificate ${certificate.serial} was revoked: join anew with a token`),
    );
    expect((await admin('cert', 'revoke', certificate.serial)).code).toBe(0);
    expect((await certificates()).find(({ name }) => name === 'watcher')?.revoked).toBe(true);
  });

  it('says that there is no such certificate', async () => {
    const { code, stderr } = await admin('cert', 'revoke', 'abc', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'NOT_FOUND',
      reason: 'CERTIFICATE_NOT_FOUND',
      message:
        'there is no certificate abc that has not expired: name the whole serial that `stageplane cert list` shows',
    });
  });
});

describe('an initialised orchestrator', () => {
  it('is not initialised again while it runs', async () => {
    expect(await admin('init', '--force')).toMatchObject(
      failed(1, /^stageplane: another stageplane process \(pid \d+\) uses .+: stop it/),
    );
  });

  it('does not start with --insecure, and gets another name without anybody having to join anew', async () => {
    await stop();
    const kept = join(data, 'pki', 'admin.pem');
    const before = readFileSync(kept, 'utf8');
    const insecure = await admin('orchestrator', '--listen', '127.0.0.1:0', '--insecure', '--log-level', 'fatal');
    expect(insecure).toMatchObject(
      failed(1, /was initialised, and everyone shows a certificate there: leave out --insecure/),
    );
    const named = JSON.parse((await admin('init', '--add-name', '127.0.0.9', '--json')).stdout);
    expect(named.hosts).toEqual(expect.arrayContaining(['localhost', 'server.lan', '10.0.0.5', '127.0.0.9']));
    await start();
    expect(readFileSync(kept, 'utf8')).toBe(before);
    const list = await run('nodes', 'list', '--orchestrator', address, '--credentials', join(data, 'pki'));
    expect(list.code).toBe(0);
  });
});
