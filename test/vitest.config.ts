import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // They need a browser, a model that does not come with the repository, a container engine, or build and install.
    exclude: ['test/browser/**', 'test/real-model/**', 'test/package/**', 'test/container/**'],
    setupFiles: ['test/support/runtime-folder.ts', 'test/support/property-seed.ts'],
    reporters: ['default', './test/plain-counts.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Tests start real processes; two cores are what CI has.
    maxWorkers: 2,
  },
});
