// Node 20 runs no TypeScript: Vite, which vitest brings, does.
import { runnerImport } from 'vite';

await runnerImport(new URL('./cli.ts', import.meta.url).pathname, { configFile: false, logLevel: 'error' });
