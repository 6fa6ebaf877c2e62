import type {
  Hello,
  StageReport,
  SubscribeRequest,
  SubscribeResponse,
} from '../../gen/stageplane/v1/node_agent_service.js';
import { type RunId, runId, type SessionId } from '../../src/core/ids.js';
import { stageRank } from '../../src/core/machine/stage-transitions.js';
import type { RunState } from '../../src/core/machine/state.js';
import type { Simulation } from './simulation.js';
import { wordsOf } from './transcript.js';

/** Holds every message of the orchestrator against what is stored when it goes out (I4). */
export class MessageChecker {
  /** By session, since the orchestrator's start. */
  readonly hellos = new Map<SessionId, Hello>();
  readonly #heard = new Map<SessionId, Map<bigint, StageReport>>();
  readonly #saidBefore = new Set<string>();

  constructor(private readonly sim: Simulation) {}

  orchestratorEnds(): void {
    this.hellos.clear();
    this.#heard.clear();
  }

  heard(session: SessionId, { message }: SubscribeRequest): void {
    if (message?.$case !== 'heartbeat') this.sim.trace(() => `${session} -> ${wordsOf(message)}`);
    if (message?.$case === 'hello') this.hellos.set(session, message.value);
    if (message?.$case !== 'report' || message.value.report?.$case === 'loading') return;
    const reports = this.#heard.get(session) ?? new Map<bigint, StageReport>();
    const name = `${this.hellos.get(session)?.processId} ${message.value.reportId}`;
    if (this.#saidBefore.has(name)) this.sim.hit('report acknowledged again');
    this.#saidBefore.add(name);
    this.#heard.set(session, reports.set(message.value.reportId, message.value));
  }

  /** What is sent is committed, and so is what is acknowledged (I4). */
  sent(session: SessionId, { message }: SubscribeResponse): void {
    const { sim } = this;
    const stored = sim.store.runs;
    if (message?.$case !== 'heartbeatAck') sim.trace(() => `${session} <- ${wordsOf(message)}`);
    switch (message?.$case) {
      case 'provision':
        for (const { provision } of message.value.stages) {
          const run = stored.get(runId(provision!.runId));
          const phase = run?.stages[provision!.stageIndex]?.phase;
          if (!run || !phase || stageRank(phase) < stageRank('SENT'))
            sim.violated('I4', `stage ${provision!.stageIndex} of run ${provision!.runId} is sent and stored ${phase}`);
        }
        return;
      case 'reportAck':
        for (const id of message.value.reportIds) this.#checkReportAck(session, id, stored);
    }
  }

  #checkReportAck(session: SessionId, id: bigint, stored: ReadonlyMap<RunId, RunState>): void {
    const { sim } = this;
    const report = this.#heard.get(session)?.get(id);
    const node = sim.orchestrator.world?.sessions.get(session)?.nodeId;
    const run = report && stored.get(runId(report.runId));
    const stage = run?.stages[report?.stageIndex ?? 0];
    if (!report?.report || !run || !stage || stage.nodeId !== node || run.generation !== report.generation) return;
    const needed = { ready: 'READY', fault: 'FAULTED', stopped: 'STOPPED', loading: 'PENDING' } as const;
    if (stageRank(stage.phase) < stageRank(needed[report.report.$case]))
      sim.violated(
        'I4',
        `${report.report.$case} of stage ${stage.index} of run ${run.runId} is acknowledged, stored ${stage.phase}`,
      );
  }
}
