import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/real-model/**/*.test.ts'],
    reporters: ['default', './test/plain-counts.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
