/** What a field needs of the form that it is part of. */
export interface Bound<Value> {
  /** Also the element's id. */
  readonly id: string;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}
