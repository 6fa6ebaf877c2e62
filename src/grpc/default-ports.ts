/** Where tokens are redeemed unless somebody says otherwise: two ports after that of launchers and agents. */
export function enrollAddressBeside(listen: string): string {
  const { host, port } = split(listen);
  return `${host}:${after(port, 2)}`;
}

/** Where HTTP is served unless somebody says otherwise: on this machine alone, the port after that of launchers and agents. */
export function httpAddressBeside(listen: string): string {
  return `127.0.0.1:${after(split(listen).port, 1)}`;
}

/** 0 lets the system choose, and stays. Ports end at 65535: whoever listens there has to say where the others are. */
function after(port: number, by: number): number {
  return port === 0 ? 0 : port + by;
}

function split(address: string): { host: string; port: number } {
  const at = address.lastIndexOf(':');
  return { host: address.slice(0, at), port: Number(address.slice(at + 1)) };
}
