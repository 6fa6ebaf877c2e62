/** Bytes of one stage on its device, part by part. */
export interface StageBytes {
  /** Of its layers, and of what every stage holds. */
  readonly weights: number;
  readonly kvCache: number;
  readonly compute: number;
  /** 0 on all stages but the first, and there too when the engine looks tokens up in the file. */
  readonly embedding: number;
  /** 0 on all stages but the last. */
  readonly head: number;
  /** 0 on an accelerator: edges end in RAM. */
  readonly rings: number;
  readonly overhead: number;
  /** Sum of the parts above. */
  readonly total: number;
  /** Beside all that, in RAM, when the device is an accelerator; else 0. */
  readonly host: number;
  /** Whether compute and overhead are what was left of a measurement. */
  readonly measured: boolean;
}
