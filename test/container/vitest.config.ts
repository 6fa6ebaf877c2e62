import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/container/**/*.test.ts'],
    reporters: ['default', './test/plain-counts.ts'],
    testTimeout: 300_000,
    // The image is built: once from nothing, then from what the engine has kept.
    hookTimeout: 1_800_000,
  },
});
