import { afterAll } from 'vitest';
import { temporaryFolder } from './temporary-folder.js';

// Agents of two test files may have one node id in one cluster: on one machine they would meet.
process.env.XDG_RUNTIME_DIR = temporaryFolder(afterAll);
