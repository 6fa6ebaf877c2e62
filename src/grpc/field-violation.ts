/** One field of a request that cannot be used. */
export interface FieldViolation {
  /** Path of the field as the proto file spells it, such as `plan.fixed_linear.stages[2].node_id`. */
  readonly field: string;
  /** What is wrong there and what to do; a sentence that continues `field: `. */
  readonly description: string;
}
