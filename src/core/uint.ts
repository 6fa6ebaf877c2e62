/** Largest value of a `uint32`, the wire's counts and token ids. */
export const U32_MAX = 0xffff_ffff;

/** Largest value of a `uint64`, the wire's ids and byte counts. */
export const U64_MAX = 0xffff_ffff_ffff_ffffn;
