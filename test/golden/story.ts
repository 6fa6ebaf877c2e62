import type { HeldStage, StageReport, SubscribeResponse } from '../../gen/stageplane/v1/node_agent_service.js';
import { HeldStagePhase } from '../../gen/stageplane/v1/node_agent_service.js';
import type { RunEvent, StageFault } from '../../gen/stageplane/v1/run.js';
import { RestartMode, RunOutcome, RunPhase, StageFaultReason, StagePhase } from '../../gen/stageplane/v1/run.js';
import { TextDone, TextDoneReason } from '../../gen/stageplane/v1/token_endpoint.js';
import { nodeId, runId, type SessionId, sessionId, wallMillis } from '../../src/core/ids.js';
import { limits } from '../../src/core/limits.js';
import type { Answer, Effect } from '../../src/core/machine/effects.js';
import type { ClusterEvent } from '../../src/core/machine/events.js';
import type { StoredWorld } from '../../src/core/machine/state.js';
import { stepOver } from '../../src/core/machine/step-over.js';
import { assertInvariants, Watchdog } from '../core/machine/invariants.js';
import { sampleHello, samplePlan } from '../core/machine/samples.js';
import { storedFrom, WorldInMemory } from '../core/machine/world-in-memory.js';

type Telling = (story: Story, words: readonly string[]) => void;

/** What may happen in a story. The groups of the pattern are the words that the telling gets. */
const verbs: readonly (readonly [RegExp, Telling])[] = [
  [/^node (\S+) joins( from another process)?(?: holding (.+))?$/, (s, w) => s.join(w[0]!, w[1] !== '', w[2]!)],
  [/^node (\S+) joins as node (\d+)$/, (s, w) => s.join(w[0]!, false, '', BigInt(w[1]!))],
  [/^(\S+)'s stream breaks$/, (s, w) => s.endSession(w[0]!, false)],
  [/^(\S+) says goodbye$/, (s, w) => s.endSession(w[0]!, true)],
  [/^(\S+) sends a heartbeat$/, (s, w) => s.heartbeat(w[0]!)],
  [
    /^create run (\S+) on (\w+(?:, \w+)*) with (\d+) restarts?$/,
    (s, w) => s.createRun(w[0]!, w[1]!.split(', '), '', Number(w[2])),
  ],
  [/^create run (\S+) anywhere with (\d+) restarts?$/, (s, w) => s.createRun(w[0]!, [], '', Number(w[1]))],
  [
    /^create one-shot run (\S+) anywhere with (\d+) restarts?$/,
    (s, w) => s.createRun(w[0]!, [], 'Tell me a story.', Number(w[1])),
  ],
  [/^create run (\S+) on (\w+(?:, \w+)*)$/, (s, w) => s.createRun(w[0]!, w[1]!.split(', '))],
  [/^create one-shot run (\S+) on ([\w, ]+)$/, (s, w) => s.createRun(w[0]!, w[1]!.split(', '), 'Tell me a story.')],
  [/^the token endpoint of run (\d+ g\d+) is ready$/, (s, w) => s.endpointReady(w[0]!)],
  [/^no answer of run (\d+ g\d+) is under way$/, (s, w) => s.post({ kind: 'token-endpoint-quiet', ...runOf(w[0]!) })],
  [/^the token endpoint of run (\d+ g\d+) is lost with (\w+)$/, (s, w) => s.endpointLost(w[0]!, w[1]!)],
  [/^the answer of run (\d+ g\d+) ends with (\w+)$/, (s, w) => s.answerEnds(w[0]!, w[1]!)],
  [/^the prompt of run (\d+ g\d+) is refused$/, (s, w) => s.refusePrompt(w[0]!)],
  [/^stop run (\d+)$/, (s, w) => s.post({ kind: 'run-stop-requested', call: 1, runId: runId(BigInt(w[0]!)) })],
  [/^delete run (\d+)$/, (s, w) => s.post({ kind: 'run-delete-requested', call: 1, runId: runId(BigInt(w[0]!)) })],
  [/^drain (\S+) within (\d+) s$/, (s, w) => s.drain(w[0]!, Number(w[1]) * 1000)],
  [/^(\S+) redeems a token$/, (s, w) => s.redeem(w[0]!)],
  [/^delete node (\S+)$/, (s, w) => s.deleteNode(w[0]!)],
  [/^(un)?cordon (\S+)$/, (s, w) => s.cordon(w[1]!, w[0] === '')],
  [/^(\S+) acknowledges delivery (\d+)$/, (s, w) => s.acknowledge(w[0]!, w[1]!)],
  [/^(\S+) refuses delivery (\d+) with (\w+)$/, (s, w) => s.refuse(w[0]!, w[1]!, w[2]!)],
  [/^(\S+) reports (\w+) (\d+\/\d+ g\d+)(?: (\w+))?$/, (s, w) => s.report(w[0]!, w[1]!, w[2]!, w[3]!)],
  [/^(\d+) s pass$/, (s, w) => s.pass(Number(w[0]) * 1000)],
  [
    /^the wall clock is set (\d+) s (ahead|back)$/,
    (s, w) => s.setClock(Number(w[0]) * (w[1] === 'back' ? -1000 : 1000)),
  ],
  [/^the orchestrator restarts$/, (s) => s.restart()],
  [/^the data folder is copied$/, (s) => s.copy()],
  [/^the copy is put back$/, (s) => s.putBack(false)],
  [/^the copy is put back as a backup$/, (s) => s.putBack(true)],
  [/^the loop was stalled for (\d+) s$/, (s, w) => s.stall(Number(w[0]) * 1000)],
];

/** Tells a transcript: every line that begins with `>` happens, and what the machine makes of it is written below. */
export function tell(transcript: string): string {
  const story = new Story();
  const told: string[] = [];
  for (const line of transcript.split('\n')) {
    if (line.startsWith('#') || line === '') told.push(line);
    if (!line.startsWith('> ')) continue;
    told.push(line, ...story.happen(line.slice(2)));
  }
  return `${told.join('\n').trimEnd()}\n`;
}

class Story {
  private readonly memory = new WorldInMemory();
  private watchdog = new Watchdog();
  /** Highest epoch that an agent has heard of, by its name. */
  private readonly epochs = new Map<string, bigint>();
  private copied: StoredWorld | undefined;
  private readonly sessions = new Map<string, SessionId>();
  private readonly arrived: ClusterEvent[] = [];
  private reports = 0n;
  private lines: string[] = [];

  /** Sentences joined by ` · ` happen in one turn of the loop. */
  happen(line: string): string[] {
    this.lines = [];
    for (const sentence of line.split(' · ')) this.perform(sentence);
    this.turn();
    return this.lines;
  }

  private perform(sentence: string): void {
    for (const [pattern, telling] of verbs) {
      const match = pattern.exec(sentence);
      if (!match) continue;
      telling(
        this,
        match.slice(1).map((word) => word ?? ''),
      );
      return;
    }
    throw new Error(`no such verb: ${sentence}`);
  }

  post(event: ClusterEvent): void {
    this.arrived.push(event);
  }

  private turn(): void {
    if (this.arrived.length === 0) return;
    this.memory.step(...this.arrived.splice(0));
    this.observe();
  }

  join(name: string, anotherProcess: boolean, holding: string, pinnedNodeId = 0n): void {
    const session = sessionId(`${name}-${this.sessions.size + 1}`);
    this.sessions.set(`${name} ${session}`, session);
    const held = holding === '' ? [] : holding.split(', ').map(heldStage);
    const highestEpoch = this.epochs.get(name) ?? 0n;
    const clusterId = highestEpoch > 0n ? this.memory.world.cluster.clusterId : '';
    const processId = `process-${name}${anotherProcess ? '-2' : ''}`;
    this.post({
      kind: 'hello-received',
      session,
      hello: sampleHello(name, { held, clusterId, highestEpoch, processId, pinnedNodeId }),
    });
  }

  endSession(name: string, goodbye: boolean): void {
    this.post({ kind: 'session-ended', session: this.sessionOf(name), goodbye });
  }

  heartbeat(name: string): void {
    this.post({ kind: 'heartbeat-received', session: this.sessionOf(name), sequence: 1n, usage: [], stages: [] });
  }

  /** Without names the planner chooses one node. */
  createRun(requestId: string, names: readonly string[], prompt = '', maxAttempts = 0): void {
    const ids = names.map((name) => this.memory.world.nodeByName.get(name) ?? nodeId(99n));
    const fixed = samplePlan(ids, prompt);
    const plan = names.length > 0 ? fixed : { ...fixed, placement: undefined, stageCount: 1 };
    const mode = RestartMode.RESTART_MODE_ON_FAULT;
    const restart = maxAttempts > 0 ? { mode, maxAttempts, backoffMillis: 0n } : undefined;
    const request = { requestId, digest: names.join(), plan, restart };
    this.post({ kind: 'run-requested', call: 1, request });
  }

  endpointReady(run: string): void {
    this.post({ kind: 'token-endpoint-ready', ...runOf(run) });
  }

  endpointLost(run: string, reason: string): void {
    this.post({ kind: 'token-endpoint-lost', ...runOf(run), fault: faultOf(reason) });
  }

  answerEnds(run: string, reason: string): void {
    const done = TextDone.create({ reason: TextDoneReason[`TEXT_DONE_REASON_${reason as 'MAX_TOKENS'}`] });
    this.post({ kind: 'answer-ended', ...runOf(run), answer: { text: 'Once upon', tokenIds: [1, 2], done } });
  }

  refusePrompt(run: string): void {
    this.post({ kind: 'answer-failed', ...runOf(run), fault: faultOf('PROMPT_REFUSED') });
  }

  cordon(name: string, cordoned: boolean): void {
    const id = this.memory.world.nodeByName.get(name)!;
    this.post({ kind: 'node-cordon-requested', call: 1, nodeId: id, cordoned });
  }

  drain(name: string, deadline: number): void {
    const id = this.memory.world.nodeByName.get(name)!;
    this.post({ kind: 'node-drain-requested', call: 1, nodeId: id, deadline });
  }

  redeem(name: string): void {
    const notAfter = wallMillis(2 ** 41);
    const token = { digest: `token-${name}`, role: 'agent', nodeName: '', expiresAt: notAfter } as const;
    this.post({ kind: 'token-requested', call: 1, token });
    this.post({
      kind: 'enrol-requested',
      call: 1,
      secretDigest: token.digest,
      keyDigest: `key-${name}`,
      name,
      defaultName: '',
      instanceId: `instance-${name}`,
      serial: `serial-${name}`,
      notAfter,
    });
  }

  deleteNode(name: string): void {
    const id = this.memory.world.nodeByName.get(name)!;
    this.post({ kind: 'node-delete-requested', call: 1, nodeId: id });
  }

  acknowledge(name: string, delivery: string): void {
    this.post({ kind: 'delivery-acked', session: this.sessionOf(name), deliveryId: BigInt(delivery) });
  }

  refuse(name: string, delivery: string, reason: string): void {
    const session = this.sessionOf(name);
    this.post({ kind: 'delivery-refused', session, deliveryId: BigInt(delivery), fault: faultOf(reason) });
  }

  report(name: string, what: string, stage: string, reason: string): void {
    this.reports += 1n;
    const report: StageReport = { reportId: this.reports, ...keyOf(stage), report: reportOf(what, reason) };
    this.post({ kind: 'stage-reported', session: this.sessionOf(name), report });
  }

  pass(milliseconds: number): void {
    this.memory.pass(milliseconds, () => this.observe());
  }

  setClock(milliseconds: number): void {
    this.memory.wallAhead += milliseconds;
  }

  restart(): void {
    this.sessions.clear();
    this.memory.restart();
    this.watchdog.restarted(this.memory.world);
    this.post({ kind: 'orchestrator-started' });
  }

  copy(): void {
    this.copied = storedFrom(this.memory.world);
  }

  /** Whatever came after the copy is lost; only a backup says that it is one. */
  putBack(isBackup: boolean): void {
    const { cluster } = this.copied!;
    const epoch = cluster.epoch + 1n;
    this.sessions.clear();
    this.memory.restartOn(
      this.copied!,
      isBackup ? stepOver(cluster, epoch + limits.lostEpochs) : { ...cluster, epoch },
    );
    this.watchdog = new Watchdog();
    this.watchdog.restarted(this.memory.world);
    this.post({ kind: 'orchestrator-started' });
  }

  stall(milliseconds: number): void {
    this.memory.now += milliseconds;
    this.post({ kind: 'loop-stalled' });
  }

  private sessionOf(name: string): SessionId {
    const known = [...this.sessions].filter(([key]) => key.startsWith(`${name} `));
    return known.at(-1)?.[1] ?? sessionId(`${name}-none`);
  }

  private observe(): void {
    const { turn, world } = this.memory;
    assertInvariants(world);
    this.watchdog.observe(world, turn!);
    if (turn!.events.length > 0)
      this.lines.push(`commit  r${turn!.events.at(-1)!.revision}  ${turn!.events.map(eventText).join(' · ')}`);
    for (const [id, answer] of turn!.answers) this.lines.push(`keep    answer of run ${id}: ${answer.text}`);
    for (const effect of turn!.effects) {
      this.hear(effect);
      const text = effectText(effect);
      if (text) this.lines.push(text);
    }
  }

  private hear(effect: Effect): void {
    if (effect.kind !== 'send' || effect.message.message?.$case !== 'welcome') return;
    this.epochs.set(effect.session.replace(/-\d+$/, ''), effect.message.message.value.epoch);
  }
}

function heldStage(text: string): HeldStage {
  const [stage = '', generation = '', phase = ''] = text.split(' ');
  return { ...keyOf(`${stage} ${generation}`), phase: HeldStagePhase[`HELD_STAGE_PHASE_${phase as 'READY'}`] };
}

function keyOf(text: string) {
  const [, run, stage, generation] = /^(\d+)\/(\d+) g(\d+)$/.exec(text) ?? [];
  return { runId: BigInt(run!), stageIndex: Number(stage), generation: Number(generation) };
}

function runOf(text: string) {
  const [, run, generation] = /^(\d+) g(\d+)$/.exec(text) ?? [];
  return { runId: runId(BigInt(run!)), generation: Number(generation) };
}

function faultOf(reason: string): StageFault {
  const known = StageFaultReason[`STAGE_FAULT_REASON_${reason}` as keyof typeof StageFaultReason];
  return { reason: known, message: `told as ${reason}`, logTail: [] };
}

function reportOf(what: string, reason: string): StageReport['report'] {
  switch (what) {
    case 'loading':
    case 'waiting':
      return { $case: 'loading', value: { phase: what === 'loading' ? 1 : 2, bytesDone: 1n, bytesTotal: 2n } };
    case 'ready':
      return { $case: 'ready', value: { bytesRead: 2n, bytesDigest: '', deviceBytes: 0n, hostBytes: 0n } };
    case 'fault':
      return { $case: 'fault', value: faultOf(reason) };
    default:
      return { $case: 'stopped', value: {} };
  }
}

function eventText({ runId, detail, generation }: RunEvent): string {
  switch (detail?.$case) {
    case 'runPhase': {
      const { phase, outcome, cause, stages } = detail.value;
      const ended = outcome === 0 ? '' : ` ${bare(RunOutcome[outcome], 'RUN_OUTCOME_')}`;
      const because = cause
        ? ` because ${bare(StageFaultReason[cause.reason], 'STAGE_FAULT_REASON_')} of ${cause.stageIndex === undefined ? cause.component : `stage ${cause.stageIndex}`}`
        : '';
      const places = stages.map(({ stageIndex, nodeName }) => ` ${stageIndex}=${nodeName}`).join('');
      return `run ${runId} ${bare(RunPhase[phase], 'RUN_PHASE_')}${places === '' ? '' : ` g${generation}${places}`}${ended}${because}`;
    }
    case 'stagePhase':
      return `${runId}/${detail.value.stageIndex}${generation > 1 ? ` g${generation}` : ''} ${bare(StagePhase[detail.value.phase], 'STAGE_PHASE_')}`;
    case 'fault':
      return `${runId}/${detail.value.stageIndex} fault ${bare(StageFaultReason[detail.value.fault!.reason], 'STAGE_FAULT_REASON_')}`;
    case 'restartRefused':
      return `run ${runId} cannot begin again: ${detail.value.message} (${detail.value.attemptsLeft} left)`;
    default:
      return '?';
  }
}

function effectText(effect: Effect): string | undefined {
  switch (effect.kind) {
    case 'send':
      return `send    ${effect.session}  ${messageText(effect.message)}`;
    case 'close-session':
      return `close   ${effect.session}  ${effect.why.code} ${effect.why.reason}`;
    case 'answer':
      return `answer  ${answerText(effect.answer)}`;
    case 'say':
      return `say     ${effect.message}`;
    case 'open-token-endpoint':
      return `open    token endpoint of run ${effect.runId} g${effect.generation}`;
    case 'close-token-endpoint':
      return `close   token endpoint of run ${effect.runId} g${effect.generation} (${effect.reason})`;
    case 'begin-answer':
      return `begin   answer of run ${effect.runId} g${effect.generation}`;
    case 'await-quiet':
      return `await   quiet of run ${effect.runId} g${effect.generation}`;
    case 'arm':
      return undefined;
  }
}

function messageText({ message }: SubscribeResponse): string {
  switch (message?.$case) {
    case 'welcome':
      return `welcome, node ${message.value.nodeId}, epoch ${message.value.epoch}`;
    case 'provision': {
      const { deliveryId, generation, stages } = message.value;
      const which = stages.map(({ provision }) => `${provision?.runId}/${provision?.stageIndex}`).join(', ');
      return `delivery ${deliveryId}: provision ${which} g${generation}`;
    }
    case 'stop': {
      const { deliveryId, runId, stageIndex, generation, reason } = message.value;
      return `delivery ${deliveryId}: stop ${runId}/${stageIndex} g${generation} (${reason})`;
    }
    case 'reportAck':
      return `report-ack ${message.value.reportIds.join(', ')}`;
    case 'heartbeatAck':
      return 'heartbeat-ack';
    default:
      return message?.$case ?? '?';
  }
}

function answerText(answer: Answer): string {
  switch (answer.kind) {
    case 'rejected':
      return `rejected: ${answer.rejection.message}`;
    case 'run':
      return `run ${answer.runId}`;
    default:
      return answer.kind;
  }
}

function bare(name: string | undefined, prefix: string): string {
  return (name ?? '?').replace(prefix, '');
}
