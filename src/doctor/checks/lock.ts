import { bothRoles, type Check, ok } from '../check.js';
import { lockState } from '../lock-state.js';

export const lockCheck: Check = {
  name: 'in use',
  roles: bothRoles,
  look: ({ role, dataFolder }) => {
    const lock = lockState(dataFolder);
    if (lock.kind === 'free') return ok(`no ${role} has the data folder in use`);
    return ok(`the data folder is in use by process ${lock.pid ?? 'unknown'}`);
  },
};
