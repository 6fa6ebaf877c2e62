import { errorIn } from './api-error.js';
import { send } from './send.js';
import { session } from './session.js';

/** Calls a method of OrchestratorService; gives the JSON of its response. Throws ApiError. */
export async function call(method: string, request: unknown): Promise<unknown> {
  const { status, body } = await send('POST', `/api/${method}`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  });
  if (status === 401) session.lost();
  if (status !== 200) throw errorIn(status, body);
  return body;
}
