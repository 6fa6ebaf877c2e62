/** A serial of 16 random bytes, in lower-case hexadecimal; positive, and never shortened by a leading zero. */
export function serialNumber(random: Uint8Array): string {
  const [first = 0] = random;
  const bytes = Buffer.from(random);
  bytes[0] = (first & 0x3f) | 0x40;
  return bytes.toString('hex');
}
