import { readIdentity } from '../../agent/identity.js';
import { type Check, failed, ok } from '../check.js';

export const identityCheck: Check = {
  name: 'identity',
  roles: ['agent'],
  look: ({ dataFolder }) => {
    const found = readIdentity(dataFolder);
    switch (found.kind) {
      case 'missing':
        return ok('none yet; the first start makes it');
      case 'refused':
        return failed(found.message, 'do what it says; without it the agent is another node');
      case 'loaded': {
        const { clusterId, nodeId, highestEpoch } = found.identity;
        if (clusterId === '') return ok('made, but no orchestrator has admitted it yet');
        return ok(`node ${nodeId} of cluster ${clusterId}, which was at epoch ${highestEpoch}`);
      }
    }
  },
};
