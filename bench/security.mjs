// What mutual TLS costs: the same agents and runs on two real orchestrators, one of which asks everyone for a certificate.
// Both ends are in this process, so each figure has the work of client and server. Ratios of one run, never pass or fail.
//
//   npm run bench:security -- --agents 100
import { parseArgs } from 'node:util';
import { AdminServiceService as Admin, AdminServiceClient } from '../dist/gen/stageplane/v1/admin_service.js';
import { dial, unaryCall } from '../dist/src/grpc/client.js';
import { orchestratorCredentials } from '../dist/src/grpc/tls-credentials.js';
import { initialise } from '../dist/src/orchestrator/initialise.js';
import { findCredentials, shown } from '../dist/src/pki/find-credentials.js';
import { authorityFolder } from '../dist/src/pki/is-initialised.js';
import { join } from '../dist/src/pki/join.js';
import { parseToken } from '../dist/src/pki/join-token.js';
import { Agent, echoes, Launcher, openOrchestrator } from './agents.mjs';
import { median } from './figures.mjs';

process.noDeprecation = true;
const { values } = parseArgs({
  options: { agents: { type: 'string', default: '100' }, rounds: { type: 'string', default: '7' } },
});
const count = Math.min(Number(values.agents), 512);
const rounds = Number(values.rounds);
const names = Array.from({ length: count }, (_, at) => `agent-${at}`);

const plain = await openOrchestrator();
const secured = await openOrchestrator((dataFolder) => initialise({ dataFolder, names: [], force: false }));
const admin = dial(`unix:${secured.adminSocket}`, AdminServiceClient);
const operator = () => {
  const { dataFolder } = secured;
  return shown(findCredentials(secured.address, { dataFolder, folder: authorityFolder(dataFolder) }));
};

/** Milliseconds from a token to a certificate, one after the other. */
const enrolments = [];
const credentials = [];
for (const name of names) {
  const { token } = await unaryCall(admin, Admin.createJoinToken, { nodeName: name, ttlMillis: 0n, role: 'agent' });
  const started = performance.now();
  const request = { address: secured.enrollAddress, token: parseToken(token), name, defaultName: '', instanceId: name };
  const { ca, ...own } = (await join(request)).credentials;
  enrolments.push(performance.now() - started);
  credentials.push(() => orchestratorCredentials(ca, own));
}

/** Milliseconds from nothing to a reconciled session; the same agent comes back each time. */
async function session(address, as) {
  const started = performance.now();
  const agent = new Agent(address, names[0], as);
  await agent.joined;
  const millis = performance.now() - started;
  agent.say('goodbye', {});
  await new Promise((resolve) => agent.stream.on('close', resolve).on('end', resolve));
  agent.close();
  return millis;
}

/** One of the two orchestrators, and what everyone shows it. */
class Side {
  sessions = [];
  bare = [];
  up = [];
  down = [];
  constructor({ address }, credentialsOf, operatorOf) {
    this.address = address;
    this.credentialsOf = credentialsOf;
    this.launcher = new Launcher(address, operatorOf());
  }
  async openAll() {
    const started = performance.now();
    this.agents = names.map((name, at) => new Agent(this.address, name, this.credentialsOf(at)));
    await Promise.all(this.agents.map(({ joined }) => joined));
    this.together = performance.now() - started;
  }
  async round(number) {
    this.bare.push(await echoes(this.agents));
    const { up, down } = await this.launcher.wholeRun(number, count);
    this.up.push(up);
    this.down.push(down);
  }
  close() {
    for (const agent of this.agents) agent.close();
    this.launcher.close();
  }
  get figures() {
    return {
      'one session, set up': median(this.sessions),
      [`${count} sessions at once`]: this.together,
      'two echoes of each': median(this.bare),
      'create until RUNNING': median(this.up),
      'stop until DONE': median(this.down),
    };
  }
}

const nothing = () => undefined;
const sides = [new Side(plain, nothing, nothing), new Side(secured, (at) => credentials[at](), operator)];
// In turn, so that what slows the machine down slows both; the first rounds are for what is compiled and cached.
for (let round = 0; round < rounds * 3; round++) {
  for (const side of sides) {
    const millis = await session(side.address, side.credentialsOf(0));
    if (round >= rounds) side.sessions.push(millis);
  }
}
for (const side of sides) await side.openAll();
for (let round = 0; round < rounds; round++) for (const side of sides) await side.round(round);
for (const side of sides) side.close();
const [without, mutual] = sides.map(({ figures }) => figures);
console.log(`${count} agents on ${count} connections, medians of ${rounds} rounds`);
console.log(`${''.padEnd(24)}plain text    mutual TLS   ratio`);
for (const [what, millis] of Object.entries(without)) {
  const figures = [`${millis.toFixed(1)} ms`.padStart(10), `${mutual[what].toFixed(1)} ms`.padStart(14)];
  console.log(`${what.padEnd(24)}${figures.join('')}   ${(mutual[what] / millis).toFixed(2)}x`);
}
console.log(`${'token to certificate'.padEnd(24)}${`${median(enrolments).toFixed(1)} ms`.padStart(24)}`);
admin.close();
await plain.stop();
await secured.stop();
