import { expect, test } from 'vitest';
import { HiddenTap } from '../../../../src/worker/engine/llama/hidden-tap.js';
import type { LlamaLibrary } from '../../../../src/worker/engine/llama/llama-library.js';

type Callback = (tensor: string, asks: boolean) => boolean;

/** A tap of layer 3 in a library whose tensors are their names, and hold four bytes each. */
function tapWithLibrary() {
  let callback: Callback = () => false;
  const looked: string[] = [];
  const api = {
    tensorName: (tensor: string) => {
      looked.push(tensor);
      return tensor;
    },
    tensorBytes: () => 4,
    readTensor: (_: string, into: Float32Array) => into.fill(7),
  };
  const koffi = {
    proto: () => undefined,
    pointer: () => undefined,
    register: (given: Callback) => {
      callback = given;
    },
  };
  const tap = new HiddenTap({ api, koffi } as unknown as LlamaLibrary, 3);
  /** Runs tensors as ggml does; gives those whose names were looked at. */
  const run = (rows: number, tensors: readonly string[]): string[] => {
    looked.length = 0;
    tap.expect(rows);
    const wanted = tensors.find((tensor) => callback(tensor, true));
    if (wanted !== undefined) expect(callback(wanted, false)).toBe(false);
    return [...looked];
  };
  return { tap, run };
}

const graph = ['norm-3', 'Qcur-3', 'l_out-3', 'result_norm'];
const longer = ['norm-3', 'Qcur-3', 'Kcur-3', 'l_out-3', 'result_norm'];
const shorter = ['norm-3', 'l_out-3', 'result_norm'];

test('looks at no other tensor of a single row once it knows where its layer is', () => {
  const { tap, run } = tapWithLibrary();
  expect(run(1, graph)).toEqual(['norm-3', 'Qcur-3', 'l_out-3']);
  expect(tap.rows(1)).toEqual(Float32Array.of(7));
  for (const _ of [1, 2]) {
    expect(run(1, graph)).toEqual(['l_out-3']);
    expect(tap.rows(1)).toEqual(Float32Array.of(7));
  }
});

test('looks at all tensors of several rows, whose order may be another', () => {
  const { tap, run } = tapWithLibrary();
  run(1, graph);
  tap.rows(1);
  expect(run(2, longer)).toEqual(['norm-3', 'Qcur-3', 'Kcur-3', 'l_out-3']);
  tap.rows(1);
  expect(run(1, graph)).toEqual(['l_out-3']);
});

test('finds a layer that comes later than it did', () => {
  const { tap, run } = tapWithLibrary();
  run(1, graph);
  tap.rows(1);
  expect(run(1, longer)).toEqual(['Kcur-3', 'l_out-3']);
  expect(tap.rows(1)).toEqual(Float32Array.of(7));
});

test('refuses a run whose layer came sooner than it did, and finds it the next time', () => {
  const { tap, run } = tapWithLibrary();
  run(1, graph);
  tap.rows(1);
  run(1, shorter);
  expect(() => tap.rows(1)).toThrow('the layer gave 0 numbers, not 1');
  run(1, shorter);
  expect(tap.rows(1)).toEqual(Float32Array.of(7));
});
