import type { FastifyPluginAsync } from 'fastify';
import type { LocalCaller } from '../grpc/local-calls.js';

export interface MetricsDoor {
  /** Throws RpcError when a caller may not read them. */
  readonly admit: (caller: LocalCaller) => void;
  readonly render: () => Promise<{ readonly contentType: string; readonly text: string }>;
}

/** `GET /metrics`, in the text format of Prometheus. */
export function metricsDoor({ admit, render }: MetricsDoor): FastifyPluginAsync {
  return async (app) => {
    app.get('/metrics', async ({ caller }, reply) => {
      admit(caller);
      const { contentType, text } = await render();
      return reply.type(contentType).send(text);
    });
  };
}
