/** How an engine spends memory, where engines differ. */
export interface EngineMemory {
  /** Of layers with a window, whether it keeps the keys and values of the whole context all the same. */
  readonly keepsBeyondWindow: boolean;
  /** Whether the first of several stages looks tokens up in the model's file, and holds no embedding table. */
  readonly embeddingStaysInFile: boolean;
  /** Rows of `hiddenDim` in f32 that a stage holds in place of the head that another one has. */
  readonly headStandInRows: number;
}

const ofEngines: ReadonlyMap<string, EngineMemory> = new Map([
  // A conversation can be cut back to any of its tokens only when all of them are still there. A slice without a head has
  // a norm and a vocabulary of one row.
  ['llama.cpp', { keepsBeyondWindow: true, embeddingStaysInFile: true, headStandInRows: 2 }],
]);

/** Of an engine that nobody described: it holds what it must, and no more. */
const plain: EngineMemory = { keepsBeyondWindow: false, embeddingStaysInFile: false, headStandInRows: 0 };

export function engineMemory(engine: string): EngineMemory {
  return ofEngines.get(engine) ?? plain;
}
