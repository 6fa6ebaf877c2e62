import { expect, test } from 'vitest';
import { limits } from '../../src/core/limits.js';
import { ChatTemplate } from '../../src/token-endpoint/chat-template.js';

/** As SmolLM2's file has it. */
const smolLm2 =
  "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}" +
  "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}" +
  "{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}" +
  "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

const said = (...texts: string[]) =>
  texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));

const template = (source: string) => new ChatTemplate({ template: source, beginText: '<s>', endText: '</s>' });
const problem = (source: string, messages = said('hello')) => {
  const rendered = template(source).render(messages);
  return rendered.kind === 'refused' ? rendered.problem : rendered.text;
};

test('a conversation becomes the text that the model was trained on, up to the next answer', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    ...said('Why is the sky blue?', 'It scatters.', 'And red?'),
  ];
  expect(template(smolLm2).render(messages)).toEqual({
    kind: 'rendered',
    text:
      '<|im_start|>system\nBe brief.<|im_end|>\n' +
      '<|im_start|>user\nWhy is the sky blue?<|im_end|>\n' +
      '<|im_start|>assistant\nIt scatters.<|im_end|>\n' +
      '<|im_start|>user\nAnd red?<|im_end|>\n' +
      '<|im_start|>assistant\n',
    hasBegin: false,
  });
});

test('one template renders many conversations, each by itself', () => {
  const chat = template(smolLm2);
  const first = chat.render(said('one'));
  expect(chat.render(said('two'))).not.toEqual(first);
  expect(chat.render(said('one'))).toEqual(first);
});

test('the tokens that begin and end a text are told by their names', () => {
  const source = '{{ bos_token }}{% for message in messages %}{{ message.content + eos_token }}{% endfor %}';
  expect(template(source).render(said('a'))).toEqual({ kind: 'rendered', text: '<s>a</s>', hasBegin: true });
  const without = new ChatTemplate({ template: source, beginText: '', endText: '' });
  expect(without.render(said('a'))).toEqual({ kind: 'rendered', text: 'a', hasBegin: false });
});

test.each<[string, string, string]>([
  ['refuses', "{{ raise_exception('roles must alternate') }}", 'does not take these messages (roles must alternate)'],
  [
    'quotes a message',
    "{{ raise_exception('no ' ~ messages[0].content) }}",
    'does not take these messages: send others',
  ],
  ['is no Jinja', '{% for %}', 'does not take these messages'],
  ['makes too many bytes', 'ü'.repeat(limits.renderedPromptBytes / 2 + 1), 'makes over'],
  ['never ends', '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}', 'is not done'],
  [
    'doubles without end',
    "{% set n = namespace(x='x') %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x }}",
    'does not take these messages',
  ],
  [
    'makes half a gigabyte',
    "{% set n = namespace(x='x') %}{% for i in range(28) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x }}",
    `makes over ${limits.renderedPromptBytes} bytes`,
  ],
])('a template that %s is refused', (_, source, sentence) => {
  expect(problem(source)).toContain(sentence);
});

test('a text may be as long as the limit', () => {
  expect(problem('x'.repeat(limits.renderedPromptBytes))).toHaveLength(limits.renderedPromptBytes);
});

test('what a message says is text, not a program', () => {
  expect(problem(smolLm2, said('{{ 1 + 1 }}{% raw %}'))).toContain('{{ 1 + 1 }}{% raw %}');
});
