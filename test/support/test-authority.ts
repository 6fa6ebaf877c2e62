import { randomBytes } from 'node:crypto';
import type { Role } from '../../src/core/role.js';
import { type Authority, makeAuthority, readAuthority } from '../../src/pki/authority.js';
import { readRequest, requestCertificate } from '../../src/pki/certificate-request.js';
import type { Credentials } from '../../src/pki/credential-folder.js';
import { issueClient } from '../../src/pki/issue-client.js';
import { issueOrchestratorNode } from '../../src/pki/issue-orchestrator-node.js';
import { makeKeyPair } from '../../src/pki/key-pair.js';
import { serialNumber } from '../../src/pki/serial-number.js';

interface Validity {
  /** Milliseconds since 1970; default: now. */
  readonly now?: number;
  /** Milliseconds; default: an hour. */
  readonly lifetime?: number;
}

const HOUR = 60 * 60_000;

/** A CA without an orchestrator, and certificates of its nodes. */
export class TestAuthority {
  private constructor(
    readonly authority: Authority,
    readonly ca: string,
  ) {}

  static async make(): Promise<TestAuthority> {
    const files = await makeAuthority(drawn(), Date.now());
    return new TestAuthority(await readAuthority(files), files.certificate);
  }

  /** Node 1 is the orchestrator. */
  async node(nodeId: bigint, validity: Validity = {}): Promise<Credentials> {
    if (nodeId !== 1n) return this.client('agent', `node-${nodeId}`, nodeId, validity);
    return { ca: this.ca, ...(await issueOrchestratorNode(this.authority, { serial: drawn(), now: Date.now() })) };
  }

  async client(role: Role, name: string, nodeId?: bigint, validity: Validity = {}): Promise<Credentials> {
    const { now = Date.now(), lifetime = HOUR } = validity;
    const pair = await makeKeyPair();
    const key = await readRequest(await requestCertificate(pair));
    const certificate = await issueClient(this.authority, key!, { role, name, nodeId, serial: drawn(), now, lifetime });
    return { ca: this.ca, certificate, privateKey: pair.privateKey };
  }
}

function drawn(): string {
  return serialNumber(randomBytes(16));
}
