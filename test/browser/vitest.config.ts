import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    setupFiles: ['test/support/runtime-folder.ts', 'test/support/property-seed.ts'],
    reporters: ['default', './test/plain-counts.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A browser, an orchestrator, agents and workers: one of each story at a time is what two cores bear.
    maxWorkers: 1,
  },
});
