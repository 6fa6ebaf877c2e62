export interface FirstEvent {
  /** `message` for what the stream is of; `refused` and `end` are said by the HTTP port. */
  readonly kind: string;
  readonly json: unknown;
}

/**
 * The first of a body's server-sent events (HTML standard, section 9.2); undefined when it ends before. For who needs no
 * more, and would be told by an EventSource neither why it was refused nor with which status.
 */
export async function firstEvent(body: ReadableStream<Uint8Array>): Promise<FirstEvent | undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: !done });
    // A block without data keeps the connection alive, or says how soon to come again.
    for (const block of text.split('\n\n').slice(0, -1)) {
      const data = fieldOf(block, 'data');
      if (data !== undefined) return { kind: fieldOf(block, 'event') ?? 'message', json: JSON.parse(data) };
    }
    if (done) return undefined;
  }
}

function fieldOf(block: string, name: string): string | undefined {
  const line = block.split('\n').find((one) => one.startsWith(`${name}: `));
  return line?.slice(name.length + 2);
}
