import type { Run } from '../../../gen/stageplane/v1/run.js';
import { limits } from '../../core/limits.js';
import type { Pool } from './open-pool.js';

/** What a person, or a program, needs to know to ask a run. */
export interface Endpoint {
  readonly runId: string;
  readonly model: string;
  /** The base URL of OpenAI clients; empty where HTTP is not served. */
  readonly url: string;
  readonly dashboardUrl: string;
  readonly needsKey: boolean;
  /** One line for a shell; empty without a URL. */
  readonly example: string;
}

/** @param isChat whether the model brings a chat template, as far as this machine knows */
export async function endpointOf({ httpUrl }: Pool, run: Run, isChat: boolean): Promise<Endpoint> {
  const runId = String(run.runId);
  const asked = httpUrl === undefined ? undefined : await askModel(`${httpUrl}/v1/models/run-${runId}`);
  const model = asked?.id ?? `run-${runId}`;
  const needsKey = asked?.status === 401;
  const urls = httpUrl === undefined ? { url: '', dashboardUrl: '' } : { url: `${httpUrl}/v1`, dashboardUrl: httpUrl };
  // Whatever the model brings, the fixture engine makes nothing of messages.
  const asChat = isChat && run.settings[0]?.engine !== 'fixture';
  return { runId, model, ...urls, needsKey, example: urls.url && exampleOf(urls.url, model, asChat, needsKey) };
}

/** Under which id the run is listed, when this machine may ask. */
async function askModel(url: string): Promise<{ id?: string; status: number } | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(limits.helloMillis) });
    const body = (await response.json()) as { id?: unknown };
    return { status: response.status, ...(typeof body.id === 'string' && { id: body.id }) };
  } catch {
    // A certificate of its own CA, or another machine's loopback address.
    return undefined;
  }
}

function exampleOf(url: string, model: string, isChat: boolean, needsKey: boolean): string {
  const prompt = isChat ? { messages: [{ role: 'user', content: 'Hello' }] } : { prompt: 'Hello' };
  const key = needsKey ? ' -H "authorization: Bearer $STAGEPLANE_KEY"' : '';
  const body = JSON.stringify({ model, ...prompt }).replaceAll("'", `'\\''`);
  return `curl ${url}/${isChat ? 'chat/' : ''}completions${key} -H 'content-type: application/json' -d '${body}'`;
}
