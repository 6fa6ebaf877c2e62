import type { FastifyPluginAsync } from 'fastify';

/** Whether this process answers, for whoever starts and restarts it. */
export const health: FastifyPluginAsync = async (app) => {
  app.get('/healthz', { config: { isPublic: true } }, async () => ({ status: 'ok' }));
};
