import type { CertificateRecord, KeyRecord, TokenRecord } from './access-records.js';
import type { Changes } from './changes.js';
import { replaceAll } from './overlay.js';
import type { World } from './state.js';

/** What one turn changes in who may come in; a part of the draft, like the rest of it. */
export class AccessDraft {
  readonly tokens = new Map<string, TokenRecord | undefined>();
  readonly certificates = new Map<string, CertificateRecord | undefined>();
  readonly keys = new Map<string, KeyRecord | undefined>();

  constructor(private readonly base: Pick<World, 'tokens' | 'certificates' | 'keys'>) {}

  get changed(): boolean {
    return this.tokens.size + this.certificates.size + this.keys.size > 0;
  }

  get changes(): Pick<Changes, 'tokens' | 'certificates' | 'keys'> {
    const { tokens, certificates, keys } = this;
    return { tokens, certificates, keys };
  }

  token(digest: string): TokenRecord | undefined {
    return this.tokens.has(digest) ? this.tokens.get(digest) : this.base.tokens.get(digest);
  }

  certificate(serial: string): CertificateRecord | undefined {
    return this.certificates.has(serial) ? this.certificates.get(serial) : this.base.certificates.get(serial);
  }

  allTokens(): TokenRecord[] {
    return merged(this.base.tokens, this.tokens);
  }

  allCertificates(): CertificateRecord[] {
    return merged(this.base.certificates, this.certificates);
  }

  allKeys(): KeyRecord[] {
    return merged(this.base.keys, this.keys);
  }

  putToken(token: TokenRecord): void {
    this.tokens.set(token.digest, token);
  }

  putCertificate(certificate: CertificateRecord): void {
    this.certificates.set(certificate.serial, certificate);
  }

  putKey(key: KeyRecord): void {
    this.keys.set(key.digest, key);
  }

  /** What has expired is refused without its record (I16). */
  forgetExpired(wall: number): void {
    for (const { digest, expiresAt } of this.allTokens()) if (expiresAt <= wall) this.tokens.set(digest, undefined);
    for (const { serial, notAfter } of this.allCertificates()) {
      if (notAfter <= wall) this.certificates.set(serial, undefined);
    }
    for (const { digest, expiresAt } of this.allKeys()) {
      if (expiresAt !== undefined && expiresAt <= wall) this.keys.set(digest, undefined);
    }
  }

  applyTo(world: World): void {
    replaceAll(world.tokens, this.tokens);
    replaceAll(world.certificates, this.certificates);
    replaceAll(world.keys, this.keys);
  }
}

function merged<T>(base: ReadonlyMap<string, T>, changes: ReadonlyMap<string, T | undefined>): T[] {
  return [...new Map<string, T | undefined>([...base, ...changes]).values()].filter((record) => record !== undefined);
}
