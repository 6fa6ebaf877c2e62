import { join } from 'node:path';

/** Path of the socket of AdminService, in the orchestrator's data folder. */
export function adminSocketOf(dataFolder: string): string {
  return join(dataFolder, 'admin.sock');
}
