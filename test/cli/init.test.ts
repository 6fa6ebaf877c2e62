import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { Child, type Ended, failed, stageplane } from './child.js';

const folder = temporaryFolder(afterAll);
const home = { HOME: folder };
const run = (...words: string[]): Promise<Ended> => stageplane(words, home);

describe('init', () => {
  it('names the CA, the names and the next step', async () => {
    const { code, stdout } = await run('init', '--data', join(folder, 'one'), '--name', 'server.lan');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^the CA of \S+one is [0-9a-f]{64}\nthe orchestrator is known as localhost, .+server\.lan\n/,
    );
    expect(stdout).toContain('next: start `stageplane orchestrator`, then `stageplane token create` here');
  });

  it('does it once, and again with --force alone, which keeps what was there', async () => {
    const one = join(folder, 'two');
    const first = JSON.parse((await run('init', '--json', '--data', one)).stdout);
    const again = await run('init', '--data', one);
    expect(again).toMatchObject(
      failed(
        1,
        `the data folder ${one} was initialised already: start the orchestrator, add a name of it with --add-name, or make a new CA with --force, after which all join anew`,
      ),
    );
    const forced = JSON.parse((await run('init', '--json', '--force', '--data', one)).stdout);
    expect(forced.caDigest).not.toBe(first.caDigest);
    expect(readdirSync(forced.replaced)).toEqual(readdirSync(join(one, 'pki')));
  });

  it.each([
    [
      ['--name', 'server:7070'],
      '--name: "server:7070" is no host name or address; write one such as server.lan or 10.0.0.5, without a port',
    ],
    [['--ca-cert', 'ca.pem'], '--ca-cert: a CA needs both its certificate and its key: name --ca-cert and --ca-key'],
    [
      ['--add-name', 'a', '--force'],
      '--add-name: changes nothing but the names of an orchestrator that was initialised already: use it alone',
    ],
  ])('refuses %j', async (words, sentence) => {
    expect(await run('init', '--data', join(folder, 'three'), ...words)).toMatchObject(failed(2, sentence));
  });
});

describe('an orchestrator without init', () => {
  const words = ['orchestrator', '--listen', '0.0.0.0:0', '--log-level', 'warn', '--json'];
  it.each([[[]], [['--insecure']], [['--trust-network']]])('listens beyond this machine not with %j', async (flags) => {
    const ended = await run(...words, '--data', join(folder, 'open'), ...flags);
    expect(ended.code).toBe(2);
    expect(JSON.parse(ended.stderr).message).toContain('add --insecure and --trust-network on a network you trust');
  });

  it('does when it is told twice, and warns', async () => {
    const child = new Child([...words, '--data', join(folder, 'open'), '--insecure', '--trust-network'], home);
    await child.shown('stdout', '\n');
    expect(child.stderr).toContain('NOBODY IS AUTHENTICATED AND NOTHING IS ENCRYPTED');
    child.process.kill('SIGTERM');
    expect((await child.end()).code).toBe(0);
  });
});
