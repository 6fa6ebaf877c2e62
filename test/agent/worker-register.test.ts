import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { expect, it } from 'vitest';
import { WorkerRegister } from '../../src/agent/worker-register.js';
import { temporaryFolder } from '../support/temporary-folder.js';

it('lets an agent begin and end in good order where its register cannot be written', async () => {
  const path = join(temporaryFolder(), 'workers.json');
  mkdirSync(path);
  const register = new WorkerRegister(path, pino({ level: 'silent' }));
  await register.begin();
  expect(() => register.end()).not.toThrow();
});
