import { LoadProgress_Phase, StageFaultReason, type StageUsage } from '../../gen/stageplane/v1/run.js';
import { type PrepareStage, WorkerCommand, type WorkerEvent } from '../../gen/stageplane/v1/worker.js';
import { limits } from '../core/limits.js';
import type { EngineListener } from './engine-host.js';
import type { EngineMessage } from './engine-messages.js';
import type { Line } from './line-splitter.js';
import { parseMessageLine } from './parse-message-line.js';
import { defectFault, type WorkerFault, workerFault } from './stage-fault.js';

/** Everything that a worker does to the world. */
export interface WorkerPort {
  say(event: NonNullable<WorkerEvent['event']>): void;
  log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  startEngine(prepare: PrepareStage, listener: EngineListener): RunningEngine;
  /** A stop was commanded: free the engine, say `stopped`, exit with 0. */
  stop(): void;
}

/** An engine in its thread, from its load to its end. */
export interface RunningEngine {
  /** Milliseconds that it has been at its current step; 0 while it waits. */
  stepMillis(): number;
  /** What the stage holds of generation sessions. */
  usage(): StageUsage;
  stop(): Promise<void>;
}

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'loading' | 'ready'; readonly engine: RunningEngine }
  /** The stage is over. Only health checks and the stop are answered. */
  | { readonly kind: 'faulted' };

/** The worker's side of the protocol: one stage, at most one fault, and an answer to every health check. */
export class StageWorker {
  #state: State = { kind: 'idle' };
  /** When the load began or last got on; undefined when none is under way. */
  #loadingSince: number | undefined;

  constructor(readonly port: WorkerPort) {}

  receive(line: Line): void {
    if (line.kind === 'too-long') {
      this.#refuseLine(`is longer than ${limits.workerLineBytes} bytes`);
      return;
    }
    const parsed = parseMessageLine(WorkerCommand, line.text);
    if (parsed.kind === 'malformed') {
      this.#refuseLine(parsed.problem);
      return;
    }
    const { command } = parsed.message;
    switch (command?.$case) {
      case 'prepare':
        this.#prepare(command.value);
        break;
      case 'checkHealth':
        this.#sayHealth(command.value.sequence);
        break;
      case 'stop':
        this.port.log.info({ why: command.value.reason }, 'stop commanded');
        this.port.stop();
        break;
      default:
        this.#refuseLine('has none of the commands prepare, stop and checkHealth');
    }
  }

  /** Ends the engine in the middle of whatever it does. */
  async freeEngine(): Promise<void> {
    const state = this.#state;
    this.#state = { kind: 'faulted' };
    this.#loadingSince = undefined;
    if ('engine' in state) await state.engine.stop();
  }

  /** Ends the stage with its one fault; a later one is only logged. */
  fault({ reason, message }: WorkerFault): void {
    const fields = { reason: StageFaultReason[reason], why: message };
    if (this.#state.kind === 'faulted') {
      this.port.log.warn(fields, 'further fault of a stage that has ended');
      return;
    }
    this.port.log.error(fields, 'stage faulted');
    void this.freeEngine();
    this.port.say({ $case: 'fault', value: { reason, message, logTail: [] } });
  }

  #prepare(prepare: PrepareStage): void {
    if (this.#state.kind !== 'idle') {
      const message = 'this worker was given a second stage to prepare: start one worker per stage';
      this.fault(workerFault(StageFaultReason.STAGE_FAULT_REASON_CONFLICTING_DELIVERY, message));
      return;
    }
    const { provision, generation, modelPath } = prepare;
    const stage = { runId: String(provision?.runId), stageIndex: provision?.stageIndex, generation, path: modelPath };
    this.port.log.info(stage, 'stage prepares');
    this.#loadingSince = this.port.now();
    const engine = this.port.startEngine(prepare, {
      onMessage: (message) => this.#heard(message),
      onEnd: (error) => this.#engineEnded(error),
    });
    this.#state = { kind: 'loading', engine };
  }

  #heard(message: EngineMessage): void {
    if (this.#state.kind !== 'loading' && this.#state.kind !== 'ready') return;
    switch (message.kind) {
      case 'progress': {
        this.#loadingSince = this.port.now();
        this.#sayLoading(LoadProgress_Phase.PHASE_BYTES, BigInt(message.bytesDone), BigInt(message.bytesTotal));
        break;
      }
      case 'waiting-edges': {
        this.#loadingSince = undefined;
        const { bytesRead } = message.footprint;
        this.#sayLoading(LoadProgress_Phase.PHASE_WAITING_EDGES, bytesRead, bytesRead);
        break;
      }
      case 'ready':
        this.#state = { kind: 'ready', engine: this.#state.engine };
        this.#loadingSince = undefined;
        this.port.log.info({ bytes: String(message.footprint.bytesRead) }, 'stage ready');
        this.port.say({ $case: 'ready', value: message.footprint });
        break;
      case 'faulted':
        this.fault(message.fault);
        break;
      case 'note':
        this.port.log.warn({ why: message.sentence }, 'edge');
        break;
    }
  }

  #sayHealth(sequence: bigint): void {
    const usage = 'engine' in this.#state ? this.#state.engine.usage() : { heldSessions: 0, heldTokens: 0n };
    this.port.say({ $case: 'health', value: { sequence, busyMillis: this.#busyMillis(), usage } });
  }

  #sayLoading(phase: LoadProgress_Phase, bytesDone: bigint, bytesTotal: bigint): void {
    this.port.say({ $case: 'loading', value: { phase, bytesDone, bytesTotal } });
  }

  #engineEnded(error: Error): void {
    if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') {
      const message = "the engine's thread ran out of memory: give this stage fewer layers or sessions";
      this.fault(workerFault(StageFaultReason.STAGE_FAULT_REASON_OUT_OF_MEMORY, message));
      return;
    }
    const fault = defectFault('the engine ended');
    this.port.log.error({ incident: fault.incident, err: error }, 'engine thread failed');
    this.fault(fault);
  }

  #refuseLine(problem: string): void {
    const message = `a line on the worker's stdin ${problem}`;
    this.fault(workerFault(StageFaultReason.STAGE_FAULT_REASON_INVALID_DELIVERY, message));
  }

  #busyMillis(): bigint {
    const since = this.#loadingSince;
    const millis = since === undefined ? this.#stepMillis() : this.port.now() - since;
    return BigInt(Math.max(0, Math.round(millis)));
  }

  #stepMillis(): number {
    return 'engine' in this.#state ? this.#state.engine.stepMillis() : 0;
  }
}
