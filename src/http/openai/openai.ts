import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { OrchestratorCalls } from '../api.js';
import { HttpError, refusal, refusalHeaders } from '../http-refusal.js';
import { refusalOf } from '../refusal-of.js';
import { readBody } from './body.js';
import { Completions } from './completions.js';
import { openAiError } from './openai-error.js';
import { type ServedModel, ServedRuns } from './served-runs.js';

/** The endpoint that programs made for OpenAI's API talk to, at `/v1`: every run that serves is a model. */
export function openAi(calls: OrchestratorCalls, logger: Logger): FastifyPluginAsync {
  const served = new ServedRuns(calls);
  const completions = new Completions(calls, served, logger);
  return async (root) => {
    await root.register(
      async (app) => {
        speakOfErrorsAsOpenAi(app, logger);
        app.get('/models', async ({ caller }) => ({
          object: 'list',
          data: (await served.models(caller)).map(modelObject),
        }));
        app.get<{ Params: { '*': string } }>('/models/*', async ({ params, caller }) => {
          const run = await served.choose(params['*'], caller);
          const model = (await served.models(caller)).find(({ runs }) => runs.some(({ runId }) => runId === run.runId));
          return modelObject(model ?? { id: params['*'], runs: [run] });
        });
        app.post('/chat/completions', ({ body, caller }, reply) => completions.chat(readBody(body), caller, reply));
        app.post('/completions', ({ body, caller }, reply) => completions.text(readBody(body), caller, reply));
      },
      { prefix: '/v1' },
    );
  };
}

function speakOfErrorsAsOpenAi(app: FastifyInstance, logger: Logger): void {
  const send = (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const log = logger.child({ method: request.routeOptions.url ?? 'unknown', peer: request.ip });
    const why = refusalOf(thrown, log);
    return reply.code(why.statusCode).headers(refusalHeaders(why)).send(openAiError(why));
  };
  app.setErrorHandler(send);
  app.setNotFoundHandler((request, reply) => {
    const { method, url } = request;
    const message = `there is no ${method} ${url.slice(0, 200)} here: /v1 has models, chat/completions and completions`;
    return send(new HttpError(refusal(404, 'UNKNOWN_URL', message)), request, reply);
  });
}

function modelObject({ id, runs }: ServedModel): object {
  const [oldest] = runs;
  return {
    id,
    object: 'model',
    created: Math.floor((oldest?.createdAt?.getTime() ?? 0) / 1000),
    owned_by: 'stageplane',
    context_length: oldest?.settings[0]?.contextLength ?? 0,
    runs: runs.map(({ runId }) => Number(runId)),
  };
}
