import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isMarkedSecure } from './security-mark.js';

/** Where an orchestrator keeps its certificates. */
export function authorityFolder(dataFolder: string): string {
  return join(dataFolder, 'pki');
}

/** Whether `stageplane init` was run there: then everyone has to show a certificate, also when the folder is lost. */
export function isInitialised(dataFolder: string): boolean {
  return existsSync(authorityFolder(dataFolder)) || isMarkedSecure(dataFolder);
}
