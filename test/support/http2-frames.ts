/** What a client of HTTP/2 says before anything else. */
export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export const frameType = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, window: 8, continuation: 9 } as const;
export const END_STREAM = 1;
export const END_HEADERS = 4;

/** One frame, as it is on the wire; nothing checks that it makes sense. */
export function http2Frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A setting such as INITIAL_WINDOW_SIZE, which is 4. */
export function settingsFrame(...pairs: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(pairs.length * 6);
  for (const [index, [id, value]] of pairs.entries()) {
    payload.writeUInt16BE(id, index * 6);
    payload.writeUInt32BE(value, index * 6 + 2);
  }
  return http2Frame(frameType.settings, 0, 0, payload);
}

/** A header that no table remembers; name and value have less than 127 bytes. */
export function plainHeader(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.of(0, name.length), Buffer.from(name), Buffer.of(value.length), Buffer.from(value)]);
}

/** The block of a gRPC call's headers, and more of them. */
export function callHeaders(path: string, more: Readonly<Record<string, string>> = {}): Buffer {
  const headers = { ':path': path, ':authority': 'x', 'content-type': 'application/grpc', te: 'trailers', ...more };
  // `:method: POST` and `:scheme: http` from the static table.
  return Buffer.concat([
    Buffer.of(0x83, 0x86),
    ...Object.entries(headers).map(([name, value]) => plainHeader(name, value)),
  ]);
}

/** The data frames of one gRPC message, as large as frames may be. */
export function messageFrames(stream: number, message: Uint8Array, { compressed = false, last = true } = {}): Buffer {
  const head = Buffer.alloc(5);
  head[0] = compressed ? 1 : 0;
  head.writeUInt32BE(message.length, 1);
  return dataFrames(stream, Buffer.concat([head, message]), last);
}

export function dataFrames(stream: number, bytes: Buffer, last: boolean): Buffer {
  const pieces: Buffer[] = [];
  for (let start = 0; start === 0 || start < bytes.length; start += 16_384) {
    const isLast = last && start + 16_384 >= bytes.length;
    pieces.push(http2Frame(frameType.data, isLast ? END_STREAM : 0, stream, bytes.subarray(start, start + 16_384)));
  }
  return Buffer.concat(pieces);
}

export const times = (count: number, frame: (index: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, index) => frame(index)));
