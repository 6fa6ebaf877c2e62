import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StageUsage } from '../../gen/stageplane/v1/run.js';
import { limits } from '../core/limits.js';
import { HEADER_BYTES, type ObjectRecord, objectFlags, type StageObject } from './edge/object-record.js';
import type { SessionEngine } from './engine/session-engine.js';
import type { StepOutput } from './engine/stage-layers.js';
import { decodeSampling } from './sampling-object.js';
import type { WorkerFault } from './stage-fault.js';
import { edgeUseFault, stepFault } from './stage-loop-faults.js';
import { ELEMENT_BYTES, inputRowBytes, outputPayload, type StageShape, stepInput } from './stage-loop-steps.js';
import { type Lane, StageQueue } from './stage-queue.js';

/** What the loop asks of an engine. */
export type LoopEngine = Pick<SessionEngine, 'runNext' | 'cancel' | 'release' | 'truncate' | 'sample'>;

/** Everything that a stage loop does to the world. */
export interface LoopPort {
  /** The object has left the inbound ring. */
  taken(object: ObjectRecord): void;
  /** Whether the outbound ring can hold a payload of that size. When not, `StageLoop.wake` follows. */
  hasRoom(payloadBytes: number): boolean;
  send(object: StageObject): void;
  /** The stage is over. Once. */
  fault(fault: WorkerFault): void;
  /** The engine begins a step, or has ended it. */
  busy(isBusy: boolean): void;
  /** What the stage holds has changed, or may have. */
  holds(usage: StageUsage): void;
}

/** What the stage knows of one generation session. */
interface LoopSession {
  /** Positions that the engine holds. */
  position: number;
  /** After a CANCEL, or a TRUNCATE to more than was held, nobody knows what the next row would be. */
  mustTruncate: boolean;
}

/**
 * The life of a ready stage: takes objects from the inbound edge, runs them one at a time, each session in its order,
 * and sends what comes out. One step at a time means one prefill piece of a session at most.
 */
export class StageLoop {
  readonly #queue: StageQueue;
  readonly #sessions = new Map<bigint, LoopSession>();
  readonly #rowBytes: number;
  #engine: LoopEngine | undefined;
  /** By session: the object that the engine is at, and a piece whose rows let decodes pass. */
  readonly #underWay = new Map<bigint, { readonly object: ObjectRecord; cancelled: boolean }>();
  #running = false;
  #over = false;

  constructor(
    readonly stage: StageShape,
    readonly port: LoopPort,
  ) {
    this.#rowBytes = inputRowBytes(stage);
    this.#queue = new StageQueue((object) => this.#laneOf(object));
  }

  /** Begins to run objects with a loaded engine; those that came before have waited. */
  start(engine: LoopEngine): void {
    this.#engine = engine;
    this.wake();
  }

  /** Takes the next object of the inbound edge, whose sequence is right. */
  accept(object: ObjectRecord): void {
    if (object.flags === objectFlags.CANCEL) this.#cancel(object.session);
    this.#queue.add(object);
    this.wake();
  }

  /** Goes on, if there is work and room for its result. */
  wake(): void {
    void this.#run();
  }

  async #run(): Promise<void> {
    const engine = this.#engine;
    if (engine === undefined || this.#running) return;
    this.#running = true;
    for (let object = this.#due(); object !== undefined; object = this.#due()) {
      if (this.#laneOf(object) === 'prefill') {
        // A decode that came right behind it goes first, but is heard of only when the event loop turns.
        await nextTurn();
        object = this.#due();
        if (object === undefined) break;
      }
      await this.#take(engine, object);
      // So are cancels and decodes of other sessions.
      if (this.#queue.peek() !== undefined) await nextTurn();
    }
    this.#running = false;
  }

  /** Carries out what is due. */
  async #take(engine: LoopEngine, object: ObjectRecord): Promise<void> {
    this.#queue.take();
    this.port.taken(object);
    await this.#perform(engine, object);
    this.port.holds(this.#usage());
  }

  /** Decodes of others that came during a piece are sent before its rows: behind them they would wait at every stage. */
  async #letDecodesPass(engine: LoopEngine, piece: ObjectRecord): Promise<void> {
    await nextTurn();
    const pieceBytes = HEADER_BYTES + this.#resultBytes(piece);
    for (let passed = 0; passed < limits.decodesBeforePrefill; passed++) {
      const object = this.#due(pieceBytes);
      if (object === undefined || object.session === piece.session || this.#laneOf(object) !== 'decode') return;
      await this.#take(engine, object);
    }
  }

  #usage(): StageUsage {
    let tokens = 0;
    for (const { position } of this.#sessions.values()) tokens += position;
    return { heldSessions: this.#sessions.size, heldTokens: BigInt(tokens) };
  }

  /** What is next, if there is room for its result and `bytesBeside`. */
  #due(bytesBeside = 0): ObjectRecord | undefined {
    const object = this.#over ? undefined : this.#queue.peek();
    return object !== undefined && this.port.hasRoom(this.#resultBytes(object) + bytesBeside) ? object : undefined;
  }

  async #perform(engine: LoopEngine, object: ObjectRecord): Promise<void> {
    const session = this.#sessionOf(object.session);
    if (object.flags === objectFlags.CANCEL) {
      session.mustTruncate = true;
      this.port.send(object);
    } else if (object.flags === objectFlags.TRUNCATE) {
      this.#truncate(engine, object, session);
    } else if (object.flags === objectFlags.SAMPLING) {
      this.#sample(engine, object);
    } else if (object.payload.byteLength === 0) {
      this.#release(engine, object.session);
      this.port.send(object);
    } else {
      await this.#step(engine, object, session);
    }
  }

  async #step(engine: LoopEngine, object: ObjectRecord, session: LoopSession): Promise<void> {
    const rows = object.payload.byteLength / this.#rowBytes;
    const problem = problemOf(rows, session);
    if (problem !== undefined) {
      this.#fail(edgeUseFault(object, problem));
      return;
    }
    const next = {
      sessionId: String(object.session),
      workId: object.sequence,
      position: session.position,
      input: stepInput(this.stage, object.payload),
    };
    const current = { object, cancelled: false };
    this.#underWay.set(object.session, current);
    this.port.busy(true);
    const running = engine.runNext(next);
    // A token does not wait for the next turn of the promises.
    const result = running instanceof Promise ? await running : running;
    this.port.busy(false);
    const isDone = result.kind === 'done';
    if (isDone) session.position += rows;
    if (isDone && !this.stage.isTail && this.#laneOf(object) === 'prefill') await this.#letDecodesPass(engine, object);
    this.#underWay.delete(object.session);
    // A CANCEL waits in the queue and says the rest.
    if (current.cancelled || this.#over) return;
    if (isDone) this.#deliver(engine, object, result.output);
    else this.#fail(stepFault(object, result.status));
  }

  #deliver(engine: LoopEngine, object: ObjectRecord, output: StepOutput): void {
    const { session, flags } = object;
    if (flags === objectFlags.RELEASE) this.#release(engine, session);
    const tokenIsDue = flags !== objectFlags.MORE;
    if (!this.stage.isTail || tokenIsDue) this.port.send({ session, flags, payload: outputPayload(output) });
  }

  /** Forwards the position that all stages so far have kept: the one asked for, or less. */
  #truncate(engine: LoopEngine, object: ObjectRecord, session: LoopSession): void {
    const asked = new DataView(object.payload.buffer, object.payload.byteOffset).getUint32(0, true);
    const kept = Math.min(asked, session.position);
    const name = String(object.session);
    if (engine.truncate(name, kept).code === 'OK') session.position = kept;
    else {
      engine.release(name);
      session.position = 0;
    }
    session.mustTruncate = session.position < asked;
    const payload = Buffer.alloc(ELEMENT_BYTES);
    payload.writeUInt32LE(session.position);
    this.port.send({ session: object.session, flags: object.flags, payload });
  }

  /** Only the last stage picks tokens; what the others need not understand they pass on as it is. */
  #sample(engine: LoopEngine, object: ObjectRecord): void {
    if (!this.stage.isTail) {
      this.port.send(object);
      return;
    }
    const read = decodeSampling(object.payload);
    if (read.kind === 'malformed') this.#fail(edgeUseFault(object, read.problem));
    else engine.sample(String(object.session), read.sampling);
  }

  /** Ends what the session has here; its CANCEL is sent on after that. */
  #cancel(session: bigint): void {
    for (const dropped of this.#queue.drop(session)) this.port.taken(dropped);
    const current = this.#underWay.get(session);
    if (current === undefined) return;
    current.cancelled = true;
    this.#engine!.cancel(String(session), { workId: String(current.object.sequence) });
  }

  #release(engine: LoopEngine, session: bigint): void {
    this.#sessions.delete(session);
    engine.release(String(session));
  }

  #fail(fault: WorkerFault): void {
    this.#over = true;
    this.port.fault(fault);
  }

  #sessionOf(id: bigint): LoopSession {
    const known = this.#sessions.get(id);
    if (known !== undefined) return known;
    const session = { position: 0, mustTruncate: false };
    this.#sessions.set(id, session);
    return session;
  }

  #laneOf({ flags, payload }: ObjectRecord): Lane {
    if (payload.byteLength === 0 || isWord(flags)) return 'control';
    const isOneRow = payload.byteLength === this.#rowBytes;
    return isOneRow && flags !== objectFlags.MORE ? 'decode' : 'prefill';
  }

  #resultBytes({ flags, payload }: ObjectRecord): number {
    if (payload.byteLength === 0 || isWord(flags)) return payload.byteLength;
    const rows = payload.byteLength / this.#rowBytes;
    return this.stage.isTail ? ELEMENT_BYTES : rows * this.stage.hiddenDim * ELEMENT_BYTES;
  }
}

/** Whether the payload of such an object is no rows. */
function isWord(flags: number): boolean {
  return flags === objectFlags.TRUNCATE || flags === objectFlags.SAMPLING;
}

function problemOf(rows: number, { mustTruncate }: LoopSession): string | undefined {
  if (!Number.isInteger(rows)) return 'does not hold whole rows';
  if (mustTruncate) return 'follows a CANCEL or a TRUNCATE that fell short, and no TRUNCATE came between';
  return undefined;
}
