import { StageFaultReason } from '../../../gen/stageplane/v1/run.js';
import { TextDone, TextDoneReason } from '../../../gen/stageplane/v1/token_endpoint.js';
import type { RunId } from '../../../src/core/ids.js';
import type { Effect } from '../../../src/core/machine/effects.js';
import type { ClusterEvent } from '../../../src/core/machine/events.js';

interface Endpoint {
  readonly runId: RunId;
  readonly generation: number;
  ready: boolean;
  /** The prompt of a ONE_SHOT run is being answered. */
  answering: boolean;
}

/** The least that an orchestrator's shell must do with token endpoints. They die with it. */
export class HonestEndpoints {
  readonly open = new Map<RunId, Endpoint>();

  take(effect: Effect): void {
    switch (effect.kind) {
      case 'open-token-endpoint': {
        const { runId, generation } = effect;
        if (this.open.has(runId)) throw new Error(`run ${runId} opens a second token endpoint`);
        this.open.set(runId, { runId, generation, ready: false, answering: false });
        return;
      }
      case 'close-token-endpoint':
        this.open.delete(effect.runId);
        return;
      case 'begin-answer': {
        const endpoint = this.open.get(effect.runId);
        if (!endpoint?.ready) throw new Error(`run ${effect.runId} wants an answer of no ready token endpoint`);
        endpoint.answering = true;
      }
    }
  }

  /** The oldest one that is not ready becomes so. */
  becomeReady(): ClusterEvent[] {
    const endpoint = [...this.open.values()].find(({ ready }) => !ready);
    if (!endpoint) return [];
    endpoint.ready = true;
    return [{ kind: 'token-endpoint-ready', ...keyOf(endpoint) }];
  }

  /** The oldest one ends by itself; the answer that was under way breaks off first. */
  lose(neighbourDied: boolean): ClusterEvent[] {
    const [endpoint] = this.open.values();
    if (!endpoint) return [];
    const reason = neighbourDied
      ? StageFaultReason.STAGE_FAULT_REASON_EDGE_CLOSED
      : StageFaultReason.STAGE_FAULT_REASON_WORKER_EXITED;
    const fault = { reason, message: 'the endpoint ended', logTail: [] };
    const lost: ClusterEvent = { kind: 'token-endpoint-lost', ...keyOf(endpoint), fault };
    const brokenOff = endpoint.answering ? [answered(endpoint, TextDoneReason.TEXT_DONE_REASON_UNAVAILABLE)] : [];
    endpoint.answering = false;
    return [...brokenOff, lost];
  }

  /** The oldest answer under way ends well, or the prompt turns out not to be answerable. */
  answer(fails: boolean): ClusterEvent[] {
    const endpoint = [...this.open.values()].find(({ answering }) => answering);
    if (!endpoint) return [];
    endpoint.answering = false;
    const fault = {
      reason: StageFaultReason.STAGE_FAULT_REASON_PROMPT_REFUSED,
      message: 'the prompt is too long',
      logTail: [],
    };
    if (fails) return [{ kind: 'answer-failed', ...keyOf(endpoint), fault }];
    return [answered(endpoint, TextDoneReason.TEXT_DONE_REASON_END_OF_GENERATION)];
  }

  /** The orchestrator was killed. */
  die(): void {
    this.open.clear();
  }
}

function answered(endpoint: Endpoint, reason: TextDoneReason): ClusterEvent {
  const answer = { text: 'Once', tokenIds: [1], done: TextDone.create({ reason }) };
  return { kind: 'answer-ended', ...keyOf(endpoint), answer };
}

function keyOf({ runId, generation }: Endpoint) {
  return { runId, generation };
}
