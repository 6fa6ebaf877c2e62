import { basename } from 'node:path';
import { RunMode } from '../../../gen/stageplane/v1/planner.js';
import { type Run, RunOutcome, RunPhase } from '../../../gen/stageplane/v1/run.js';
import { limits } from '../../core/limits.js';
import type { LocalCaller } from '../../grpc/local-calls.js';
import type { OrchestratorCalls } from '../api.js';
import { HttpError, refusal } from '../http-refusal.js';

/** Runs that serve one model, the oldest first; at least one of them is RUNNING. */
export interface ServedModel {
  /** By which clients ask for it. */
  readonly id: string;
  readonly runs: readonly Run[];
}

/** Which run answers for which model. */
export class ServedRuns {
  readonly #answering = new Map<bigint, number>();

  constructor(private readonly calls: OrchestratorCalls) {}

  async models(caller: LocalCaller): Promise<ServedModel[]> {
    const serving = await this.#serving(caller);
    const seen = new Set<Run>();
    return serving.flatMap((run) => {
      if (seen.has(run)) return [];
      const runs = serving.filter((other) => isSameModel(run, other));
      for (const one of runs) seen.add(one);
      const running = runs.filter(isRunning);
      return running.length === 0 ? [] : [{ id: idOf(run, serving), runs: running }];
    });
  }

  /** The least busy one that serves a model. Throws HttpError when there is none, or none yet. */
  async choose(model: string, caller: LocalCaller): Promise<Run> {
    const serving = await this.#serving(caller);
    const runs = runsOf(model, serving);
    const [first, ...others] = runs.filter(isRunning);
    if (first !== undefined) return others.reduce((a, b) => (this.#busy(b) < this.#busy(a) ? b : a), first);
    throw runs[0] === undefined ? unknownModel(model, await this.models(caller)) : notYet(model, runs[0]);
  }

  /** Counts an answer of a run until the result is called. */
  begin({ runId }: Run): () => void {
    this.#answering.set(runId, this.#own(runId) + 1);
    return () => {
      const left = this.#own(runId) - 1;
      if (left > 0) this.#answering.set(runId, left);
      else this.#answering.delete(runId);
    };
  }

  async #serving(caller: LocalCaller): Promise<Run[]> {
    const asked = { pageSize: limits.pageSize, pageToken: '', activeOnly: true };
    const { runs } = await this.calls.listRuns(asked, caller);
    const serving = runs.filter(({ mode, outcome }) => mode === RunMode.RUN_MODE_SERVING && outcome === 0);
    const found = await Promise.all(serving.map(({ runId }) => this.calls.getRun({ runId }, caller)));
    return found.flatMap(({ run }) => run ?? []).sort((a, b) => Number(a.runId - b.runId));
  }

  #own(runId: bigint): number {
    return this.#answering.get(runId) ?? 0;
  }

  /** What the run's endpoint has said is some seconds old, and knows of answers over gRPC too. */
  #busy({ runId, textLoad }: Run): number {
    const { waitingPrompts = 0, runningAnswers = 0 } = textLoad ?? {};
    return Math.max(this.#own(runId), waitingPrompts + runningAnswers);
  }
}

/**
 * Names that several models share mean the one that was there first, as long as it is, so that who starts another run
 * takes no client's model away.
 */
function runsOf(model: string, serving: readonly Run[]): Run[] {
  const one = serving.find((run) => model === `run-${run.runId}` || model.endsWith(`@run-${run.runId}`));
  if (one !== undefined && (model.startsWith('run-') || model === uniqueName(one))) return [one];
  const first = serving.find((run) => namesOf(run).includes(model));
  return first === undefined ? [] : serving.filter((run) => isSameModel(first, run));
}

function idOf(run: Run, serving: readonly Run[]): string {
  const { modelId = '' } = run.plan?.model ?? {};
  if (modelId === '') return `run-${run.runId}`;
  return runsOf(modelId, serving).includes(run) ? modelId : uniqueName(run);
}

function uniqueName({ plan, runId }: Run): string {
  return `${plan?.model?.modelId ?? ''}@run-${runId}`;
}

/** What people call a model: by its own name, or by its file. */
function namesOf(run: Run): string[] {
  const file = basename(pathOf(run));
  return [run.plan?.model?.modelId ?? '', file, file.replace(/\.gguf$/i, '')].filter((name) => name !== '');
}

/** The digest is of the file's header: fine-tuned copies of a model differ in their weights alone, hence the path too. */
function isSameModel(a: Run, b: Run): boolean {
  const key = (run: Run) => [run.settings[0]?.modelDigest, run.plan?.model?.modelId, pathOf(run)].join('\n');
  return key(a) === key(b);
}

function pathOf({ plan }: Run): string {
  const source = plan?.model?.ggufSource?.source;
  if (source?.$case !== 'huggingFace') return source?.value ?? '';
  const { repo, file, revision = '' } = source.value;
  return `${repo}@${revision}/${file}`;
}

function isRunning({ phase }: Run): boolean {
  return phase === RunPhase.RUN_PHASE_RUNNING;
}

function unknownModel(model: string, served: readonly ServedModel[]): HttpError {
  const name = JSON.stringify(model.slice(0, limits.quotedCharacters));
  const ids = served.map(({ id }) => JSON.stringify(id)).join(', ');
  const advice =
    ids === '' ? 'none is served: start one with `stageplane up FILE`' : `ask for one that is served: ${ids}`;
  const message = `there is no model ${name} here: ${advice}`;
  const fieldViolations = [{ field: 'model', description: message }];
  return new HttpError(refusal(404, 'MODEL_NOT_FOUND', message, { fieldViolations }));
}

function notYet(model: string, { runId, phase, outcome, lastCause }: Run): HttpError {
  const isAgain = lastCause !== undefined || outcome !== RunOutcome.RUN_OUTCOME_UNSPECIFIED;
  const where = isAgain ? 'begins again' : `is ${RunPhase[phase].replace('RUN_PHASE_', '')}`;
  const name = JSON.stringify(model.slice(0, limits.quotedCharacters));
  const message = `run ${runId}, which serves ${name}, ${where}: try again in a moment`;
  return new HttpError(refusal(503, 'RUN_NOT_RUNNING', message));
}
