import { join } from 'node:path';

const here = import.meta.dirname;

/** @type {import('vite').UserConfig} */
export default {
  root: here,
  logLevel: 'warn',
  // A browser gets no gRPC: what generated code would do with it there is never called.
  resolve: { alias: { '@grpc/grpc-js': join(here, 'api', 'no-grpc.ts') } },
  build: {
    outDir: join(here, '..', '..', 'dist', 'dashboard'),
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // The header allows no data: but for images, and a request saved is none over a loopback.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1500,
  },
};
