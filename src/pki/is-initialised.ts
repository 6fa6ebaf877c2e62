import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Where an orchestrator keeps its certificates. */
export function authorityFolder(dataFolder: string): string {
  return join(dataFolder, 'pki');
}

/** Beside the folder, and there before it: that one can be lost, or on its way in a rename, and this still says that it was. */
export function securityMark(dataFolder: string): string {
  return join(dataFolder, 'certificates-needed');
}

/** Whether `stageplane init` was run there: then everyone has to show a certificate, also when the folder is lost. */
export function isInitialised(dataFolder: string): boolean {
  return existsSync(authorityFolder(dataFolder)) || existsSync(securityMark(dataFolder));
}
