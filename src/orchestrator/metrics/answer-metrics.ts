import type { Histogram, Registry } from 'prom-client';
import { TextDoneReason, TextRefusalReason } from '../../../gen/stageplane/v1/token_endpoint.js';
import type { AnswerReader } from '../../token-endpoint/open-answers.js';
import { addCounter, addLevel, addTotal, newDurations } from './families.js';
import { labelNames } from './label-names.js';
import { Tally } from './tally.js';

/** Text: prompts and answers of every run, one-shot ones among them. No text is looked at, only its tokens are counted. */
export class AnswerMetrics {
  private readonly ended = new Tally('reason', labelNames(TextDoneReason, 'TEXT_DONE_REASON_'));
  private readonly refused = new Tally('reason', labelNames(TextRefusalReason, 'TEXT_REFUSAL_REASON_'));
  private readonly untilFirst: Histogram<string>;
  private underWay = 0;
  private generated = 0;
  private prompted = 0;
  private reused = 0;

  constructor(registry: Registry) {
    this.untilFirst = newDurations(registry, {
      name: 'stageplane_time_to_first_token_seconds',
      help: 'From the prompt until the first token of its answer, waiting included.',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    });
    this.addTo(registry);
  }

  /** A prompt goes to its endpoint: gives the reader, counted. */
  readonly follow = (reader: AnswerReader): AnswerReader => {
    const asked = performance.now();
    let isFirst = true;
    this.underWay += 1;
    return {
      delta: (delta) => {
        if (isFirst && delta.tokenIds.length > 0) {
          isFirst = false;
          this.untilFirst.observe((performance.now() - asked) / 1000);
        }
        this.generated += delta.tokenIds.length;
        reader.delta(delta);
      },
      done: (done) => {
        this.underWay -= 1;
        this.ended.add(done.reason);
        this.prompted += done.promptTokens;
        this.reused += done.reusedTokens;
        reader.done(done);
      },
      refused: (refusal) => {
        this.underWay -= 1;
        this.refused.add(refusal.reason);
        reader.refused(refusal);
      },
    };
  };

  private addTo(registry: Registry): void {
    addTotal(registry, 'stageplane_generated_tokens_total', 'Tokens of answers.', () => this.generated);
    addTotal(registry, 'stageplane_prompt_tokens_total', 'Tokens of answered prompts.', () => this.prompted);
    addTotal(
      registry,
      'stageplane_reused_prompt_tokens_total',
      'Of the tokens of answered prompts, those that were in the stages already.',
      () => this.reused,
    );
    addLevel(registry, 'stageplane_answers_under_way', 'Prompts that are not fully answered yet.', () => this.underWay);
    addCounter(registry, {
      name: 'stageplane_answers_total',
      help: 'Answers that have ended, by why.',
      labelNames: ['reason'],
      read: () => this.ended.samples(),
    });
    addCounter(registry, {
      name: 'stageplane_prompts_refused_total',
      help: 'Prompts that a token endpoint did not take, by why.',
      labelNames: ['reason'],
      read: () => this.refused.samples(),
    });
  }
}
