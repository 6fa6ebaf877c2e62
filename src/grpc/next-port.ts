/** The address with the port after its own, where tokens are redeemed by default; 0, which lets the system choose, stays 0. */
export function nextPort(address: string): string {
  const at = address.lastIndexOf(':') + 1;
  const port = Number(address.slice(at));
  return `${address.slice(0, at)}${port === 0 ? 0 : port + 1}`;
}
