import { RunMode } from '../../../gen/stageplane/v1/planner.js';
import { RestartMode, type Run } from '../../../gen/stageplane/v1/run.js';
import { escapeControls } from '../../cli/format/escape.js';
import { fidelitySentence } from '../../cli/format/fidelity-sentence.js';
import { textSpeed } from '../../cli/format/text-speed.js';

export interface Fact {
  readonly name: string;
  /** Safe to show. */
  readonly value: string;
}

/** What is worth knowing of a run beside its pipeline. */
export function runFacts(run: Run): Fact[] {
  const { plan, settings, textLoad } = run;
  const [first] = settings;
  const facts: readonly (Fact | undefined)[] = [
    fact('model', plan?.model?.modelId),
    fact('mode', run.mode === RunMode.RUN_MODE_ONE_SHOT ? 'one shot: answers its own prompt' : 'serving'),
    fact('engine', first?.engine),
    fact('context', first && first.contextLength > 0 ? `${first.contextLength} tokens` : ''),
    textLoad && fact('speed', textSpeed(textLoad.tokensPerSecond)),
    textLoad && fact('answers', `${textLoad.runningAnswers} under way, ${textLoad.waitingPrompts} waiting`),
    textLoad && fact('held sessions', String(textLoad.heldSessions)),
    fact('restarts', restartsOf(run)),
    fact('cannot begin again', run.restartObstacle),
    fact('earlier stages', earlierOf(run)),
    fact('created', run.createdAt?.toLocaleString()),
    fact('plan', run.planId.slice(0, 12)),
    fact('fidelity', run.fidelity === '' ? '' : fidelitySentence(run.fidelity)),
  ];
  return facts.filter((one) => one !== undefined);
}

function fact(name: string, value: string | undefined): Fact | undefined {
  return value ? { name, value: escapeControls(value) } : undefined;
}

function restartsOf({ restart, restarts, generation }: Run): string {
  if (restart?.mode !== RestartMode.RESTART_MODE_ON_FAULT) return generation > 1 ? `generation ${generation}` : '';
  return `generation ${generation}, ${restarts} of ${restart.maxAttempts} attempts used`;
}

function earlierOf({ earlierStages }: Run): string {
  const names = earlierStages.map(
    ({ stageIndex, nodeName, generation }) => `${stageIndex} of generation ${generation} on ${nodeName}`,
  );
  return names.length > 0 ? `may still live: stage ${names.join(', stage ')}` : '';
}
