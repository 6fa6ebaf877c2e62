import { bothRoles, type Check, failed, ok } from '../check.js';

const LEAST_MAJOR = 20;

export const nodeVersionCheck: Check = {
  name: 'Node.js',
  roles: bothRoles,
  look: () => nodeVersionFinding(process.versions.node),
};

export function nodeVersionFinding(version: string) {
  if (Number.parseInt(version, 10) >= LEAST_MAJOR) return ok(`version ${version}`);
  return failed(`version ${version} is too old`, `install Node.js ${LEAST_MAJOR} or newer`);
}
