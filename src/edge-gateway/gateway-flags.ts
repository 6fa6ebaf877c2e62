/** The agent's flags that decide where edges go, for sentences that say what to set. */
export const gatewayFlags = {
  /** `host:port` or `unix:/path` on which other nodes' edges arrive. */
  listen: '--edge-listen',
  /** `2=laptop.local:7400`, once per node. */
  address: '--edge-address',
  /** `node-{node_id}.local:7400`, for all nodes without an address of their own. */
  template: '--edge-template',
  /** Plain TCP between machines. */
  insecure: '--insecure-edges',
} as const;
