import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runOrchestrator } from '../../support/running-orchestrator.js';

const names = [
  'model',
  'messages',
  'prompt',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'seed',
  'stop',
  'stream',
  'stream_options',
  'n',
  'tools',
  'logprobs',
  'logit_bias',
  'response_format',
  'modalities',
  '__proto__',
  'constructor',
];
const message = fc.record(
  { role: fc.oneof(fc.constantFrom('user', 'system', 'tool'), fc.jsonValue()), content: fc.jsonValue() },
  { requiredKeys: [] },
);
const value = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(1, 0, true, 'text', [], {}, Number.MAX_SAFE_INTEGER, -0.5),
  fc.array(message, { maxLength: 3 }),
);
const body = fc.oneof(fc.dictionary(fc.constantFrom(...names), value), fc.jsonValue());

it('answers whatever it is sent in the shape of OpenAI, and never with a fault of its own', async () => {
  const { httpUrl } = await runOrchestrator({ http: '127.0.0.1:0' });
  const post = async (path: string, bytes: string | Uint8Array<ArrayBuffer>, type = 'application/json') => {
    const response = await fetch(`${httpUrl}/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: bytes,
    });
    return { status: response.status, text: await response.text() };
  };
  const path = fc.constantFrom('chat/completions', 'completions');
  await fc.assert(
    fc.asyncProperty(path, body, async (path, body) => {
      const { status, text } = await post(path, JSON.stringify(body));
      expect([400, 404]).toContain(status);
      const { error } = JSON.parse(text);
      expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
      expect(error).toMatchObject({ type: 'invalid_request_error', message: expect.any(String) });
      expect(text).not.toMatch(/\bat \S+ \(|node_modules|\.[jt]s:\d/);
    }),
    { numRuns: 300 },
  );

  const malformed = [
    ['', 400],
    ['{', 400],
    ['null', 400],
    ['[1]', 400],
    [new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), 400],
    ['['.repeat(100_000), 400],
    [`{"prompt":"${'x'.repeat(3 * 1024 * 1024)}"}`, 413],
  ] as const;
  for (const [bytes, expected] of malformed) {
    const { status, text } = await post('completions', bytes);
    expect(status).toBe(expected);
    expect(JSON.parse(text).error).toMatchObject({ type: 'invalid_request_error', param: null });
  }
  const plain = await post('completions', '{}', 'text/plain');
  expect([plain.status, plain.text]).toEqual([400, expect.stringContaining('content-type: application/json')]);
  expect(JSON.parse((await post('embeddings', '{}')).text)).toMatchObject({ error: { code: 'unknown_url' } });
  const model = await fetch(`${httpUrl}/v1/models/${encodeURIComponent('a/b c')}`);
  expect([model.status, await model.json()]).toMatchObject([404, { error: { code: 'model_not_found' } }]);
});
