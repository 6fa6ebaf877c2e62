/** Why a gateway does not do what it was asked. */
export interface GatewayRefusal {
  readonly kind: 'refused';
  readonly reason: /** A flag's value cannot be read. */
    | 'MALFORMED_FLAG'
    /** Nothing says where a node is. */
    | 'UNKNOWN_NODE'
    /** Plain TCP to or from another machine, and nobody asked for it. */
    | 'INSECURE_ADDRESS'
    /** Plain TCP was asked for, and the node has a certificate. */
    | 'ALREADY_SECURE'
    /** The node's certificate and key are none. */
    | 'CREDENTIALS_UNUSABLE'
    /** The address or socket cannot be listened on. */
    | 'LISTEN_FAILED'
    /** The folder of sockets cannot be made, is not this user's alone, or its path is too long. */
    | 'RUNTIME_FOLDER'
    /** An edge comes from another node, and this one does not listen. */
    | 'NOT_LISTENING'
    | 'ALREADY_REGISTERED'
    | 'TOO_MANY_EDGES'
    /** The gateway is closed. */
    | 'CLOSED';
  /** One sentence that names the thing and says what to do next. */
  readonly message: string;
}

export function refuse(reason: GatewayRefusal['reason'], message: string): GatewayRefusal {
  return { kind: 'refused', reason, message };
}
