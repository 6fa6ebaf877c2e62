import { limits } from '../limits.js';
import type { Holder } from './access-records.js';
import type { Draft } from './draft.js';
import type { AccessRefusal } from './effects.js';

/**
 * Why no further certificate is issued. What has expired makes room first (I16), and no holder takes the room of the others.
 *
 * @param holder who has some already
 */
export function refuseCertificate({ access, wall }: Draft, holder?: Holder): Omit<AccessRefusal, 'kind'> | undefined {
  access.forgetExpired(wall);
  const all = access.allCertificates();
  const code = 'RESOURCE_EXHAUSTED';
  if (all.length >= limits.certificates) {
    const message = `${limits.certificates} certificates have not expired yet: wait until some of them have`;
    return { code, reason: 'TOO_MANY_CERTIFICATES', message };
  }
  const theirs = holder ? all.filter((one) => !one.revoked && isSameHolder(one, holder)) : [];
  if (!holder || theirs.length < limits.certificatesOfOne) return undefined;
  const message = `"${holder.name}" has ${theirs.length} certificates that have not expired: use one of them, or revoke them and join anew`;
  return { code, reason: 'TOO_MANY_OF_ONE', message };
}

export function isSameHolder(one: Holder, other: Holder): boolean {
  return one.role === other.role && one.name === other.name && one.nodeId === other.nodeId;
}
