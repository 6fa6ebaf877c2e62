import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from './resolve-settings.js';

/** Where a daemon keeps its state by default: `$XDG_STATE_HOME/stageplane/<daemon>`, see the XDG base directories. */
export function defaultDataFolder(
  daemon: 'orchestrator' | 'agent' | 'up',
  environment: Environment = process.env,
): string {
  const state = environment.XDG_STATE_HOME || join(homedir(), '.local', 'state');
  return join(state, 'stageplane', daemon);
}
