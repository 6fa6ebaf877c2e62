import { errorIn } from './api-error.js';
import { firstEvent } from './first-event.js';
import { request, send } from './send.js';
import { session } from './session.js';

/** Calls a method of OrchestratorService; gives the JSON of its response. Throws ApiError. */
export async function call(method: string, message: unknown): Promise<unknown> {
  const { status, body } = await send('POST', `/api/${method}`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(message),
  });
  if (status !== 200) throw refusal(status, body);
  return body;
}

/** Calls a method that streams and leaves it after the first response, whose JSON it gives. Throws ApiError. */
export async function callOnce(method: string, message: unknown): Promise<unknown> {
  const leaving = new AbortController();
  const path = `/api/${method}?request=${encodeURIComponent(JSON.stringify(message))}`;
  const response = await request(path, { signal: leaving.signal });
  if (!response.ok || !response.body) throw refusal(response.status, await response.json().catch(() => undefined));
  const event = await firstEvent(response.body).catch(() => undefined);
  leaving.abort();
  if (event?.kind !== 'message') throw errorIn(200, event?.json);
  return event.json;
}

function refusal(status: number, body: unknown) {
  if (status === 401) session.lost();
  return errorIn(status, body);
}
