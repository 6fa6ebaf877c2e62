import { describe, expect, test } from 'vitest';
import { formatEdgeAddress } from '../../src/edge-gateway/edge-address.js';
import { makeResolver, type ResolverConfig } from '../../src/edge-gateway/resolver.js';

/** The address of a node as text, or the refusal of either step. */
function resolve(config: ResolverConfig, nodeId: bigint): string {
  const made = makeResolver(config);
  if (made.kind === 'refused') return `${made.reason}: ${made.message}`;
  const resolved = made.resolver.resolve(nodeId);
  return resolved.kind === 'refused' ? `${resolved.reason}: ${resolved.message}` : formatEdgeAddress(resolved.address);
}

describe('a node id becomes', () => {
  const addresses = ['2=laptop.local:7400', '3=[fe80::1]:7400', '4=unix:/run/x/4.sock'];
  test.each<[ResolverConfig, bigint, string]>([
    [{ addresses }, 2n, 'laptop.local:7400'],
    [{ addresses }, 3n, '[fe80::1]:7400'],
    [{ addresses }, 4n, 'unix:/run/x/4.sock'],
    [{ template: 'node-{node_id}.local:7400' }, 12n, 'node-12.local:7400'],
    [{ template: '127.0.0.1:740{node_id}' }, 2n, '127.0.0.1:7402'],
    [
      { template: 'unix:/run/x/{node_id}/{node_id}.sock' },
      2n ** 64n - 1n,
      `unix:/run/x/${2n ** 64n - 1n}/${2n ** 64n - 1n}.sock`,
    ],
    [{ addresses, template: 'node-{node_id}.local:7400' }, 2n, 'laptop.local:7400'],
    [{ addresses, template: 'node-{node_id}.local:7400' }, 9n, 'node-9.local:7400'],
  ])('%j, node %s: %s', (config, nodeId, address) => {
    expect(resolve(config, nodeId)).toBe(address);
  });
});

test('an unknown node is refused with the flags that would make it known', () => {
  expect(resolve({ addresses: ['2=laptop.local:7400'] }, 3n)).toBe(
    'UNKNOWN_NODE: nothing says where node 3 is: set --edge-address 3=host:port, or --edge-template for all nodes',
  );
});

test('a template that gives no address for one node names it', () => {
  const sentence = resolve({ template: '127.0.0.1:740{node_id}' }, 1000n);
  expect(sentence).toMatch(/^MALFORMED_FLAG: --edge-template 127\.0\.0\.1:740\{node_id\} has no address in/);
  expect(sentence).toContain('set --edge-address 1000=host:port');
});

describe('what cannot be read names its entry', () => {
  const long = `unix:/${'x'.repeat(99)}`;
  test.each<[ResolverConfig, string]>([
    [{ addresses: ['laptop.local:7400'] }, '--edge-address laptop.local:7400 does not begin with a node id'],
    [{ addresses: ['0=laptop.local:7400'] }, '--edge-address 0=laptop.local:7400 does not begin with a node id'],
    [{ addresses: [`${2n ** 64n}=a:1`] }, 'does not begin with a node id'],
    [{ addresses: ['2=laptop.local'] }, '--edge-address 2=laptop.local has no address in "laptop.local"'],
    [{ addresses: ['2=laptop.local:99999'] }, 'has no address in "laptop.local:99999"'],
    [{ addresses: ['2=laptop.local:0'] }, '--edge-address 2=laptop.local:0 has port 0'],
    [{ addresses: ['2=unix:run/x.sock'] }, 'is no absolute path'],
    [{ addresses: [`2=${long}`] }, 'has a socket path of 100 bytes, 99 at most are possible'],
    [{ addresses: ['2=a:1', '3=a:2', '2=b:1'] }, '--edge-address 2=b:1 is the second address of node 2'],
    [{ template: 'laptop.local:7400' }, 'would give all nodes one address: put {node_id}'],
    [{ template: '{node_name}-{node_id}.local:7400' }, 'has {node_name}, which stands for nothing'],
    [{ template: 'node-{node_id}.local' }, '--edge-template node-{node_id}.local has no address in'],
  ])('%j', (config, sentence) => {
    expect(resolve(config, 2n)).toMatch(/^MALFORMED_FLAG: /);
    expect(resolve(config, 2n)).toContain(sentence);
  });
});
