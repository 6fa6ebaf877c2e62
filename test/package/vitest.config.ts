import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/package/**/*.test.ts'],
    reporters: ['default', './test/plain-counts.ts'],
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
