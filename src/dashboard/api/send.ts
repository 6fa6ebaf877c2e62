import { ApiError } from './api-error.js';
import { connection } from './connection.js';

/** Anything but a stream that nobody answers says so under this name. */
const requests = 'requests';

interface Content {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One request and the JSON of its answer, whatever its status. Throws ApiError when nobody answers. */
export async function send(
  method: string,
  path: string,
  content: Content = { headers: {} },
): Promise<{ status: number; body: unknown }> {
  const response = await request(path, { method, ...content });
  return { status: response.status, body: await response.json().catch(() => undefined) };
}

/** An answer whose body is still to be read. Throws ApiError when nobody answers. */
export async function request(path: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(path, init);
    connection.up(requests);
    return response;
  } catch {
    connection.down(requests);
    throw new ApiError(0, 'NO_ANSWER', 'the orchestrator does not answer; this page asks again by itself');
  }
}
