import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import files from '@fastify/static';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { packageRoot } from '../package-root.js';
import { refusal } from './http-refusal.js';

/** The addresses of the dashboard's pages: each is the same file, which looks at the address itself. */
const pages = ['/', '/runs', '/runs/:runId', '/plan', '/events'];

const publicly = { config: { isPublic: true } } as const;

/**
 * The dashboard's own files, for everybody: they tell nothing of the pool, and are what asks for a key. Those under `/assets/`
 * have the digest of their content in their names.
 */
export function dashboard(folder = join(packageRoot(), 'dist', 'dashboard')): FastifyPluginAsync {
  return async (app) => {
    const page = join(folder, 'index.html');
    if (!existsSync(page)) return void sayMissing(app, page);
    const html = readFileSync(page);
    for (const path of pages) {
      app.get(path, publicly, (_, reply) =>
        reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(html),
      );
    }
    app.addHook('onRoute', (route) => {
      if (route.url.startsWith('/assets/')) route.config = { ...route.config, isPublic: true };
    });
    const year = 365 * 24 * 60 * 60 * 1000;
    await app.register(files, {
      root: join(folder, 'assets'),
      prefix: '/assets/',
      immutable: true,
      maxAge: year,
      index: false,
      decorateReply: false,
      wildcard: false,
    });
  };
}

function sayMissing(app: FastifyInstance, page: string): void {
  const message = `${page} is missing: run npm run build, or install stageplane again`;
  const { statusCode, ...error } = refusal(503, 'NO_DASHBOARD', message);
  for (const path of pages) app.get(path, publicly, (_, reply) => reply.code(statusCode).send({ error }));
}
