import type {
  GenerateRequest,
  GenerateResponse,
  OrchestratorServiceService,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import { RunMode } from '../../../gen/stageplane/v1/planner.js';
import { type TextDone, TextDoneReason } from '../../../gen/stageplane/v1/token_endpoint.js';
import { runId } from '../../core/ids.js';
import type { RunState } from '../../core/machine/state.js';
import type { ServiceBodies } from '../../grpc/add-service.js';
import type { StreamWriter } from '../../grpc/stream-writer.js';
import type { Store } from '../../store/store.js';
import { runNotFound } from '../answer-errors.js';
import type { Loop } from '../loop.js';
import type { WatchHub } from '../watch-hub.js';
import { causeOfEnd } from './cause-of-end.js';
import { checkAttach, checkGenerate } from './check-generate.js';
import { followAnswer, replayAnswer } from './follow-answer.js';
import { cutOff, moving, neverAnswered, notOneShot, notRunning, notServing, reopening } from './generate-errors.js';
import { serveAnswer } from './serve-answer.js';
import type { TokenEndpoints } from './token-endpoints.js';

type Bodies = ServiceBodies<typeof OrchestratorServiceService>;
type Stream = StreamWriter<GenerateResponse>;

export interface GenerateParts {
  readonly loop: Loop;
  readonly store: Store;
  readonly hub: WatchHub;
  readonly endpoints: TokenEndpoints;
}

/** Text for launchers: of a SERVING run on demand, of a ONE_SHOT run as it is or was made. */
export function generateCalls(parts: GenerateParts): Pick<Bodies, 'generate'> {
  return {
    async generate(request, stream) {
      const run = parts.loop.world.runs.get(runId(request.runId));
      if (!run) throw runNotFound(runId(request.runId));
      if (request.attach) await attach(parts, run, request, stream);
      else await serve(parts, run, request, stream);
    },
  };
}

async function serve(parts: GenerateParts, run: RunState, request: GenerateRequest, stream: Stream): Promise<void> {
  if (run.mode !== RunMode.RUN_MODE_SERVING) throw notServing(run);
  checkGenerate(run, request, parts.loop.world.nodes);
  if (run.phase !== 'RUNNING') throw notRunning(run);
  if (run.volatile.moving) throw moving(run);
  const endpoint = parts.endpoints.find(run.runId);
  if (!endpoint?.isReady) throw reopening(run);
  const done = await serveAnswer(endpoint, request, stream);
  if (stream.isOpen && done !== undefined) await finish(parts, run, done, stream);
}

async function attach(parts: GenerateParts, run: RunState, request: GenerateRequest, stream: Stream): Promise<void> {
  checkAttach(request);
  if (run.mode !== RunMode.RUN_MODE_ONE_SHOT) throw notOneShot(run);
  const live = parts.endpoints.find(run.runId)?.answer;
  const kept = live === undefined ? parts.store.answer(run.runId) : undefined;
  if (kept !== undefined) await replayAnswer(kept, stream);
  const done = live === undefined ? kept?.done : await followAnswer(live, stream);
  if (stream.isOpen) await finish(parts, run, done, stream);
}

/** Says how an answer ended. When its run took it along, the launcher hears the run's cause, not a neighbour's complaint. */
async function finish(
  { loop, hub }: GenerateParts,
  run: RunState,
  done: TextDone | undefined,
  stream: Stream,
): Promise<void> {
  if (done !== undefined && done.reason !== TextDoneReason.TEXT_DONE_REASON_UNAVAILABLE) {
    stream.write({ text: '', tokenIds: [], end: { $case: 'done', value: done } });
    return;
  }
  const cause = await causeOfEnd(loop, hub, run);
  if (cause === undefined) throw done === undefined ? neverAnswered(run) : cutOff(run, done.message);
  stream.write({ text: '', tokenIds: [], end: { $case: 'fault', value: cause } });
}
