import { randomUUID } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { GenerateRequest } from '../../../gen/stageplane/v1/orchestrator_service.js';
import type { Run } from '../../../gen/stageplane/v1/run.js';
import type { LocalCaller } from '../../grpc/local-calls.js';
import type { OrchestratorCalls } from '../api.js';
import { sendEvents } from '../event-stream.js';
import { refusalOf } from '../refusal-of.js';
import { type AnswerPiece, answerPieces } from './answer.js';
import { begun } from './begun.js';
import { type Body, badField, readTexts } from './body.js';
import { readMessages } from './chat-messages.js';
import { type AnswerNames, type CompletionShape, chatShape, textShape } from './completion-shape.js';
import { generateRequest, type Prompt } from './generate-request.js';
import { type GenerationFields, readGenerationFields } from './generation-fields.js';
import type { ServedRuns } from './served-runs.js';
import { streamedAnswer } from './streamed-answer.js';
import { wholeAnswer } from './whole-answer.js';

/** Answers as OpenAI's two endpoints give them. */
export class Completions {
  constructor(
    private readonly calls: OrchestratorCalls,
    private readonly served: ServedRuns,
    private readonly logger: Logger,
  ) {}

  chat(body: Body, caller: LocalCaller, reply: FastifyReply): Promise<unknown> {
    const fields = readGenerationFields(body);
    return this.#answer(
      { fields, prompt: { kind: 'chat', messages: readMessages(body) }, shape: chatShape },
      caller,
      reply,
    );
  }

  text(body: Body, caller: LocalCaller, reply: FastifyReply): Promise<unknown> {
    const fields = readGenerationFields(body);
    const [text] = readTexts(body, 'prompt', 1);
    if (!text) throw badField('prompt', 'prompt is missing or empty: give it some text');
    return this.#answer({ fields, prompt: { kind: 'text', text }, shape: textShape }, caller, reply);
  }

  async #answer({ fields, prompt, shape }: Asked, caller: LocalCaller, reply: FastifyReply): Promise<unknown> {
    const run = await this.served.choose(fields.model, caller);
    const pieces = this.#counted(run, generateRequest(run, fields, prompt), caller);
    const names = namesFor(run, fields, shape);
    reply.headers({
      'x-request-id': names.id,
      'x-stageplane-run': String(run.runId),
      'x-stageplane-fidelity': run.fidelity,
    });
    if (!fields.isStream) return wholeAnswer(pieces, shape, names);
    const { includesUsage } = fields;
    const parts = { shape, names, includesUsage, refusalOf: (thrown: unknown) => refusalOf(thrown, this.logger) };
    return sendEvents(reply, streamedAnswer(await begun(pieces), parts), 'event');
  }

  async *#counted(run: Run, request: GenerateRequest, caller: LocalCaller): AsyncGenerator<AnswerPiece, void> {
    const end = this.served.begin(run);
    try {
      yield* answerPieces(this.calls, request, run, caller);
    } finally {
      end();
    }
  }
}

interface Asked {
  readonly fields: GenerationFields;
  readonly prompt: Prompt;
  readonly shape: CompletionShape;
}

function namesFor(
  { planId, fidelity, settings }: Run,
  { model }: GenerationFields,
  shape: CompletionShape,
): AnswerNames {
  return {
    id: `${shape.idPrefix}${randomUUID().replaceAll('-', '')}`,
    created: Math.floor(Date.now() / 1000),
    model,
    // The same fingerprint, the same arithmetic: the plan's id covers model, placement and settings.
    systemFingerprint: [fidelity, settings[0]?.engine, planId.slice(0, 12)].filter(Boolean).join('-'),
  };
}
