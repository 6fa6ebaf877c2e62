import type { Histogram, Registry } from 'prom-client';
import type { SubscribeResponse } from '../../../gen/stageplane/v1/node_agent_service.js';
import { PlanRejectionKind } from '../../../gen/stageplane/v1/rejection.js';
import {
  type RunEvent,
  RunOutcome,
  RunPhase,
  type RunPhaseChanged,
  StageFaultReason,
  StagePhase,
} from '../../../gen/stageplane/v1/run.js';
import { type RunId, runId } from '../../core/ids.js';
import type { Draft } from '../../core/machine/draft.js';
import type { Effect } from '../../core/machine/effects.js';
import { addCounter, addTotal, newDurations } from './families.js';
import { labelNames } from './label-names.js';
import { StageClock } from './stage-clock.js';
import { Tally } from './tally.js';

/** Upper bounds, in seconds, for what takes from a moment to minutes: a stage of 40 GB loads for several. */
const LONG_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

const reasonNames = labelNames(StageFaultReason, 'STAGE_FAULT_REASON_');
const phaseNames = labelNames(StagePhase, 'STAGE_PHASE_');

/** Counts what turns came to, by what they committed and sent. */
export class TurnMetrics {
  private readonly ended = new Tally('outcome', labelNames(RunOutcome, 'RUN_OUTCOME_'));
  private readonly faulted = new Tally('reason', reasonNames);
  private readonly stageFaults = new Tally('reason', reasonNames);
  private readonly rejected = new Tally('kind', labelNames(PlanRejectionKind, 'PLAN_REJECTION_KIND_'));
  private created = 0;
  private restarted = 0;
  private provisions = 0;
  private provisionsAgain = 0;
  private stops = 0;
  private begunSessions = 0;
  /** By the machine's reason, which is a constant. */
  private readonly closedSessions = new Map<string, number>();
  private readonly clock: StageClock;
  private readonly untilRunning: Histogram<string>;
  /** Stages that the turn has moved to SENT: a provision of any other is one that was sent before. */
  private readonly newlySent = new Map<RunId, Set<number>>();

  /** @param connected agent sessions right now */
  constructor(
    registry: Registry,
    private readonly connected: () => number,
  ) {
    const inPhase = newDurations(registry, {
      name: 'stageplane_stage_phase_duration_seconds',
      help: 'How long stages were in a phase that they have left.',
      labelNames: ['phase'],
      buckets: LONG_SECONDS,
    });
    this.clock = new StageClock((phase, seconds) => {
      inPhase.observe({ phase: phaseNames.get(phase) ?? 'other' }, seconds);
    });
    this.untilRunning = newDurations(registry, {
      name: 'stageplane_run_start_duration_seconds',
      help: 'From the beginning of a generation of a run until it was RUNNING.',
      buckets: LONG_SECONDS,
    });
    this.addRuns(registry);
    this.addSessions(registry);
  }

  take(turn: Draft): void {
    for (const event of turn.events) this.takeEvent(event, turn.now / 1000);
    for (const effect of turn.effects) this.takeEffect(effect);
    if (this.newlySent.size > 0) this.newlySent.clear();
  }

  private takeEvent({ runId: id, generation, detail }: RunEvent, now: number): void {
    const run = runId(id);
    switch (detail?.$case) {
      case 'runPhase':
        return this.takeRunPhase(run, generation, detail.value, now);
      case 'stagePhase': {
        const { stageIndex, phase } = detail.value;
        this.clock.move(run, generation, stageIndex, phase, now);
        if (phase !== StagePhase.STAGE_PHASE_SENT) return;
        const stages = this.newlySent.get(run) ?? new Set();
        this.newlySent.set(run, stages.add(stageIndex));
        return;
      }
      case 'fault':
        return this.stageFaults.add(detail.value.fault?.reason ?? 0);
    }
  }

  private takeRunPhase(run: RunId, generation: number, { phase, outcome, cause }: RunPhaseChanged, now: number): void {
    if (phase === RunPhase.RUN_PHASE_PROVISIONING) {
      if (generation === 1) this.created += 1;
      else this.restarted += 1;
      this.clock.begin(run, generation, now);
    } else if (phase === RunPhase.RUN_PHASE_RUNNING) {
      const age = this.clock.age(run, generation, now);
      if (age !== undefined) this.untilRunning.observe(age);
    } else if (phase === RunPhase.RUN_PHASE_DONE) {
      this.clock.end(run);
      this.ended.add(outcome);
      if (cause) this.faulted.add(cause.reason);
    }
  }

  private takeEffect(effect: Effect): void {
    if (effect.kind === 'send') this.takeMessage(effect.message);
    else if (effect.kind === 'close-session') {
      const { reason } = effect.why;
      this.closedSessions.set(reason, (this.closedSessions.get(reason) ?? 0) + 1);
    } else if (effect.kind === 'answer' && effect.answer.kind === 'rejected') {
      this.rejected.add(effect.answer.rejection.kind);
    }
  }

  private takeMessage({ message }: SubscribeResponse): void {
    if (message?.$case === 'welcome') this.begunSessions += 1;
    else if (message?.$case === 'stop') this.stops += 1;
    else if (message?.$case === 'provision') {
      this.provisions += 1;
      // One message is about one run.
      const { runId: id, stageIndex } = message.value.stages[0]!.provision!;
      if (!this.newlySent.get(runId(id))?.has(stageIndex)) this.provisionsAgain += 1;
    }
  }

  private addRuns(registry: Registry): void {
    addTotal(registry, 'stageplane_runs_created_total', 'Runs that were created.', () => this.created);
    addTotal(
      registry,
      'stageplane_run_restarts_total',
      'Generations that runs began after their first.',
      () => this.restarted,
    );
    addCounter(registry, {
      name: 'stageplane_runs_ended_total',
      help: 'Runs that are DONE, by outcome.',
      labelNames: ['outcome'],
      read: () => this.ended.samples(),
    });
    addCounter(registry, {
      name: 'stageplane_runs_faulted_total',
      help: 'Runs that ended FAULTED, by the reason of their cause.',
      labelNames: ['reason'],
      read: () => this.faulted.samples(),
    });
    addCounter(registry, {
      name: 'stageplane_stage_faults_total',
      help: 'Faults of stages, refused deliveries among them, by reason.',
      labelNames: ['reason'],
      read: () => this.stageFaults.samples(),
    });
    addCounter(registry, {
      name: 'stageplane_run_rejections_total',
      help: 'Runs that were asked for and could not be planned, by kind of rejection.',
      labelNames: ['kind'],
      read: () => this.rejected.samples(),
    });
  }

  private addSessions(registry: Registry): void {
    addTotal(
      registry,
      'stageplane_sessions_begun_total',
      'Agent sessions that were welcomed.',
      () => this.begunSessions,
    );
    addTotal(
      registry,
      'stageplane_sessions_ended_total',
      'Agent sessions that are over, however they ended.',
      () => this.begunSessions - this.connected(),
    );
    addCounter(registry, {
      name: 'stageplane_sessions_closed_total',
      help: 'Agent sessions that the orchestrator refused or ended, by reason.',
      labelNames: ['reason'],
      read: () => [...this.closedSessions].map(([reason, count]) => [{ reason: reason.toLowerCase() }, count]),
    });
    addCounter(registry, {
      name: 'stageplane_deliveries_total',
      help: 'Messages to agents that provision or stop stages.',
      labelNames: ['kind'],
      read: () => [
        [{ kind: 'provision' }, this.provisions],
        [{ kind: 'stop' }, this.stops],
      ],
    });
    addTotal(
      registry,
      'stageplane_redeliveries_total',
      'Provisions that were sent again, because their session ended before they were acknowledged.',
      () => this.provisionsAgain,
    );
  }
}
